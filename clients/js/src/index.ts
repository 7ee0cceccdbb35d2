// fogmarch for programs in JavaScript and TypeScript. Node.js over TCP: import "fogmarch/node".

export * from "./client.js";
export * from "./mirror.js";
export * from "./protocol.js";
export { connect } from "./websocket.js";
