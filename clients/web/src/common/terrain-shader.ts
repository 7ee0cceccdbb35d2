// How terrain is drawn: a texel per cell says what is there, and each pixel looks at its own cell and
// at the two or three next to it. Corners are rounded, higher sides cast a shadow, and each terrain has
// a grain of its own. From far away, where a cell is a few pixels, only its colour is drawn.

export const VERTEX = `#version 300 es
in vec2 aPosition;
in vec2 aUV;
out vec2 vCell;
uniform mat3 uProjectionMatrix;
uniform mat3 uWorldTransformMatrix;
uniform mat3 uTransformMatrix;
uniform vec4 uView;
void main() {
  mat3 whole = uProjectionMatrix * uWorldTransformMatrix * uTransformMatrix;
  gl_Position = vec4((whole * vec3(aPosition, 1.0)).xy, 0.0, 1.0);
  vCell = aUV * uView.xy;
}
`;

// uCells: colour, and in alpha the terrain's number (PROTOCOL.md), 0 where the cell is unknown.
// uSight: 0 unknown, below 1 explored, 1 visible. uView: width, height, pixels per cell, whether the
// page knows what is visible. uSite: whether a building is being placed.
export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
in vec2 vCell;
out vec4 finalColor;
uniform sampler2D uCells;
uniform sampler2D uSight;
uniform vec4 uView;
uniform float uSite;

vec4 cellAt(ivec2 cell) {
  return texelFetch(uCells, clamp(cell, ivec2(0), ivec2(uView.xy) - 1), 0);
}

int kindOf(vec4 texel) {
  return int(texel.a * 255.0 + 0.5);
}

float hash(vec2 p) {
  p = fract(p * vec2(0.1031, 0.1030));
  p += dot(p, p.yx + 33.33);
  return fract((p.x + p.y) * p.x * 7.13);
}

float noise(vec2 p) {
  vec2 at = floor(p);
  vec2 t = fract(p);
  t = t * t * (3.0 - 2.0 * t);
  return mix(mix(hash(at), hash(at + vec2(1.0, 0.0)), t.x),
             mix(hash(at + vec2(0.0, 1.0)), hash(at + vec2(1.0, 1.0)), t.x), t.y);
}

bool isHigh(int kind) {
  return kind == 2 || kind == 3 || kind == 6 || kind == 7;
}

// The grain, which distinguishes terrains of the same brightness.
vec3 grain(vec3 colour, int kind, vec2 p) {
  vec2 cell = floor(p);
  vec2 t = fract(p);
  if (kind == 1) {
    return colour * (0.965 + 0.07 * noise(p * 2.3));
  }
  if (kind == 3) {
    float r = distance(t, vec2(0.5) + 0.16 * (vec2(hash(cell), hash(cell + 7.7)) - 0.5));
    return colour * mix(1.32 - r * 0.9, 0.72, smoothstep(0.36, 0.46, r));
  }
  if (kind == 4) {
    return colour * (0.9 + 0.22 * step(0.62, noise(p * 3.1)));
  }
  if (kind == 5) {
    float wave = sin(p.y * 6.2831853 + 1.6 * noise(p * 1.3) * 6.2831853 + p.x);
    return colour * (0.97 + 0.1 * smoothstep(0.75, 0.98, wave));
  }
  if (kind == 6) {
    float row = floor(t.y * 2.0);
    vec2 brick = vec2(fract(t.x + row * 0.5), fract(t.y * 2.0));
    return colour * (brick.x < 0.08 || brick.y < 0.14 ? 0.78 : 1.08);
  }
  if (kind == 7) {
    return colour * (fract((t.x + t.y) * 2.0) < 0.5 ? 0.93 : 1.06);
  }
  return colour;
}

void main() {
  ivec2 cell = ivec2(floor(vCell));
  vec4 own = cellAt(cell);
  int kind = kindOf(own);
  vec3 colour = own.rgb;
  float detail = smoothstep(5.0, 10.0, uView.z);
  if (detail > 0.0 && kind != 0) {
    vec2 q = vCell - vec2(cell) - 0.5;
    ivec2 side = ivec2(q.x < 0.0 ? -1 : 1, q.y < 0.0 ? -1 : 1);
    vec4 across = cellAt(cell + ivec2(side.x, 0));
    vec4 along = cellAt(cell + ivec2(0, side.y));
    int kindAcross = kindOf(across);
    int kindAlong = kindOf(along);
    vec2 a = abs(q);
    vec3 near = colour;
    // A convex corner is rounded, and shows the ground around it.
    if (kindAcross == kindAlong && kindAcross != kind && kindAcross != 0) {
      float radius = kind >= 6 ? 0.12 : 0.42;
      vec2 out2 = max(a - (0.5 - radius), 0.0);
      if (dot(out2, out2) > radius * radius) {
        near = across.rgb;
        kind = kindAcross;
        kindAlong = kindAcross;
      }
    }
    near = grain(near, kind, vCell);
    float dx = kindAcross != kind && kindAcross != 0 ? 0.5 - a.x : 1.0;
    float dy = kindAlong != kind && kindAlong != 0 ? 0.5 - a.y : 1.0;
    float d = min(dx, dy);
    if (d < 0.5) {
      bool high = isHigh(kind);
      bool nextHigh = isHigh(dx < dy ? kindAcross : kindAlong);
      if (high) {
        near *= mix(0.62, 1.0, smoothstep(0.02, 0.13, d));
      } else if (nextHigh) {
        // The sun is in the north-west.
        bool shaded = dx < dy ? side.x < 0 : side.y < 0;
        near *= mix(shaded ? 0.62 : 0.86, 1.0, smoothstep(0.0, shaded ? 0.38 : 0.16, d));
      } else if (kind == 5) {
        near = mix(vec3(0.86, 0.93, 0.96), near, smoothstep(0.05, 0.16, d));
      } else {
        near *= mix(0.86, 1.0, smoothstep(0.0, 0.2, d));
      }
    }
    colour = mix(colour, near, detail);
  }
  if (uView.w > 0.5) {
    vec2 padded = vec2(textureSize(uSight, 0));
    float sight = texture(uSight, vCell / padded).r;
    vec3 grey = vec3(dot(colour, vec3(0.3, 0.59, 0.11)));
    vec3 explored = mix(colour, grey, 0.35) * 0.5;
    colour = mix(explored, colour, smoothstep(0.6, 0.95, sight));
    if (kindOf(own) != 0) {
      colour *= mix(0.45, 1.0, smoothstep(0.05, 0.5, sight));
    }
  }
  if (uSite > 0.5) {
    bool seen = uView.w < 0.5 || texelFetch(uSight, cell, 0).r > 0.9;
    if (kindOf(own) == 1 && seen) {
      colour = mix(colour, vec3(0.34, 0.71, 0.91), 0.2);
    } else {
      float stripe = fract((vCell.x + vCell.y) * max(0.5, 0.09 * uView.z / max(1.0, 0.09 * uView.z)));
      colour = mix(colour * 0.62, colour * 0.4, step(0.5, stripe));
    }
  }
  finalColor = vec4(colour, 1.0);
}
`;
