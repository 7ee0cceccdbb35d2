// UnityNames.cs: empty stubs of the Unity types that the sample uses, after the manual of Unity 2021.3. Unity itself
// cannot be installed here; with the stubs a test can at least compile the sample against the client.

namespace UnityEngine
{
    public class Object
    {
        public static void Destroy(Object one) { }
    }

    public class MonoBehaviour : Object { }

    public class Component : Object { }

    public class GameObject : Object
    {
        public Transform transform { get { return null; } }
        public static GameObject CreatePrimitive(PrimitiveType type) { return null; }
        public T GetComponent<T>() { return default(T); }
    }

    public class Transform : Component
    {
        public Vector3 position { get; set; }
        public Vector3 localScale { get; set; }
        public Quaternion rotation { get; set; }
    }

    public class Renderer : Component
    {
        public Material material { get; set; }
    }

    public class Material : Object
    {
        public Material(Shader shader) { }
        public Texture mainTexture { get; set; }
        public Color color { get; set; }
    }

    public class Shader : Object
    {
        public static Shader Find(string name) { return null; }
    }

    public class Texture : Object
    {
        public FilterMode filterMode { get; set; }
    }

    public class Texture2D : Texture
    {
        public Texture2D(int width, int height, TextureFormat format, bool mipChain) { }
        public void SetPixel(int x, int y, Color colour) { }
        public void Apply() { }
    }

    public class Camera : Component
    {
        public static Camera main { get { return null; } }
        public bool orthographic { get; set; }
        public float orthographicSize { get; set; }
        public Transform transform { get { return null; } }
        public Vector3 ScreenToWorldPoint(Vector3 position) { return position; }
    }

    public static class Application
    {
        public static bool runInBackground { get; set; }
    }

    public static class Debug
    {
        public static void Log(object message) { }
        public static void LogWarning(object message) { }
    }

    public static class Input
    {
        public static Vector3 mousePosition { get { return default(Vector3); } }
        public static bool GetMouseButtonDown(int button) { return false; }
    }

    public static class Random
    {
        public static int Range(int first, int end) { return first; }
    }

    public static class Time
    {
        public static float deltaTime { get { return 0; } }
    }

    public enum PrimitiveType { Cube, Quad }

    public enum TextureFormat { RGBA32 }

    public enum FilterMode { Point }

    public struct Quaternion
    {
        public static Quaternion identity { get { return default(Quaternion); } }
    }

    public struct Vector3
    {
        public float x, y, z;

        public Vector3(float x, float y, float z)
        {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        public static Vector3 operator +(Vector3 a, Vector3 b) { return a; }
        public static Vector3 MoveTowards(Vector3 from, Vector3 to, float step) { return to; }
    }

    public struct Color
    {
        public static Color blue { get { return default(Color); } }
        public static Color red { get { return default(Color); } }
        public static Color yellow { get { return default(Color); } }
        public static Color magenta { get { return default(Color); } }
    }

    public struct Color32
    {
        public Color32(byte r, byte g, byte b, byte a) { }
        public static implicit operator Color(Color32 colour) { return default(Color); }
    }
}
