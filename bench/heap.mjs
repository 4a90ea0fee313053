// Sums up a heap snapshot, in kB, by what keeps the memory. Even a server without leaks grows for a while, in three places that each have
// an end: the code that V8 compiles, V8's lists of what that code depends on (functions keep becoming hot for thousands of requests), and
// undici's queue of each connection, in which finished requests leave empty slots until there are 256. These are counted separately; the
// rest is what our code keeps alive.
import { readFileSync } from "node:fs";

/** Node types of V8 itself: code and what belongs to it, object shapes, weak lists. */
const COMPILED = new Set(["code", "hidden", "object shape"]);

/** `{ compiled, slots, data }` of a file written by `v8.writeHeapSnapshot`. */
export function heldIn(file) {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(file, "utf8"));
  const { node_fields: fields, node_types: types, edge_fields: edgeFields } = snapshot.meta;
  const [type, name, size, edgeCount] = ["type", "name", "self_size", "edge_count"].map((field) => fields.indexOf(field));
  const [label, target] = ["name_or_index", "to_node"].map((field) => edgeFields.indexOf(field));
  const kindOf = (node) => types[type][nodes[node + type]];
  const held = { compiled: 0, slots: 0, data: 0 };
  const queues = new Set();
  const elements = new Map();
  let edge = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    held[COMPILED.has(kindOf(node)) ? "compiled" : "data"] += nodes[node + size];
    const isClient = kindOf(node) === "object" && strings[nodes[node + name]] === "Client";
    for (let n = 0; n < nodes[node + edgeCount]; n++, edge += edgeFields.length) {
      const edgeName = strings[edges[edge + label]];
      if (isClient && edgeName === "<symbol queue>") queues.add(edges[edge + target]);
      if (edgeName === "elements" && kindOf(edges[edge + target]) === "array") elements.set(node, edges[edge + target]);
    }
  }
  for (const queue of queues) held.slots += nodes[(elements.get(queue) ?? queue) + size];
  held.data -= held.slots;
  return { compiled: held.compiled / 1024, slots: held.slots / 1024, data: held.data / 1024 };
}
