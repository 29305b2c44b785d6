"""Restores a saved workflow after the model's inputs have changed. Runs the node's script for ComfyUI's editor in
Node.js, with nodes that save and restore like those of ComfyUI."""

import json
import os
import subprocess
import sys

import support

base_url = sys.argv[1]
place = os.path.join(support.FOLDER, "editor")
extension = os.path.join(place, "extensions", "node")
os.makedirs(extension)
os.makedirs(os.path.join(place, "scripts"))

comfy = support.Comfy()
path = support.download(base_url, "comfyui-node", "image/every-kind")
outside, _, _ = support.load_node(path)
assert outside.WEB_DIRECTORY is None
comfy.install()
inside, node, _ = support.load_node(path)
assert os.listdir(inside.WEB_DIRECTORY) == ["inputs.js"]
with open(os.path.join(inside.WEB_DIRECTORY, "inputs.js"), encoding="utf-8") as file:
    script = file.read()
comfy.remove()
with open(os.path.join(extension, "inputs.js"), "w", encoding="utf-8") as file:
    file.write(script)
with open(os.path.join(place, "package.json"), "w", encoding="utf-8") as file:
    file.write('{"type": "module"}')

# The part of ComfyUI's LGraphNode (frontend 1.25) that saves and restores widgets by position.
with open(os.path.join(place, "scripts", "app.js"), "w", encoding="utf-8") as file:
    file.write("""
export const told = [];
export const extensions = [];
export const app = {
    registerExtension: (extension) => extensions.push(extension),
    extensionManager: { toast: { add: (toast) => told.push(toast) } },
};
export class Node {
    constructor(widgets) {
        this.properties = {};
        this.widgets = Object.entries(widgets).map(([name, value]) => ({ name: name.trim(), value }));
        this.widgets.push({ name: "$$preview", value: "", serialize: false });
    }
    serialize() {
        const data = { properties: structuredClone(this.properties), widgets_values: [] };
        for (const [at, widget] of this.widgets.entries())
            if (widget.serialize !== false) data.widgets_values[at] = widget.value;
        this.onSerialize?.(data);
        return JSON.parse(JSON.stringify(data));
    }
    configure(data) {
        this.properties = data.properties;
        const widgets = this.widgets.filter((widget) => widget.serialize !== false);
        data.widgets_values.forEach((value, at) => { if (widgets[at]) widgets[at].value = value; });
    }
    held() {
        return Object.fromEntries(this.widgets.slice(0, -1).map(({ name, value }) => [name, value]));
    }
}
""")
with open(os.path.join(place, "proof.js"), "w", encoding="utf-8") as file:
    file.write("""
import { Node, extensions, told } from "./scripts/app.js";
import assert from "node:assert/strict";
await import("./extensions/node/inputs.js");
const [extension] = extensions;
class Ours extends Node {}
class Other extends Node {}
extension.beforeRegisterNodeDef(Ours, { name: "image_every-kind", display_name: "Every kind" });
extension.beforeRegisterNodeDef(Other, { name: "KSampler" });
const CONTROL = "control_after_generate";
const before = new Ours({ width: 832, height: 1216, seed: 7, [CONTROL]: "fixed", steps: 20 });
const saved = before.serialize();
const open = (kind, widgets, data) => {
    const node = new kind(widgets);
    node.configure(structuredClone(data));
    return node.held();
};

// The same inputs; then in another order; then with another input.
assert.deepEqual(open(Ours, { width: 1, height: 1, seed: 1, [CONTROL]: "randomize", steps: 1 }, saved), before.held());
assert.equal(told.length, 0);
assert.deepEqual(open(Ours, { height: 1, width: 1, seed: 1, [CONTROL]: "randomize", steps: 1 }, saved),
    { height: 1216, width: 832, seed: 7, [CONTROL]: "fixed", steps: 20 });
assert.equal(told.length, 0, "no warning if all values are restored");
assert.deepEqual(open(Ours, { style: "plain", height: 1, width: 1, seed: 1, [CONTROL]: "randomize" }, saved),
    { style: "plain", height: 1216, width: 832, seed: 7, [CONTROL]: "fixed" });
assert.equal(told.length, 1);
assert.match(told[0].detail, /Not there any more: steps\\. New, with their defaults: style\\./);
assert.equal(told[0].severity, "warn");

// Each of two seeds has its own control.
const seeds = { seed: 1, [CONTROL]: "fixed", seed_2: 2, [CONTROL + " "]: "increment" };
const two = new Ours(seeds).serialize();
const turned = new Ours({ seed_2: 0, [CONTROL]: "a", seed: 0, [CONTROL + " "]: "b" });
turned.configure(two);
assert.deepEqual(turned.serialize().widgets_values, [2, "increment", 1, "fixed"]);

// Workflows that were saved without names, and nodes of other packs, are not changed.
const old = { ...saved, properties: { "Node name for S&R": "x" } };
assert.deepEqual(open(Ours, { height: 1, width: 1 }, old), { height: 832, width: 1216 });
assert.deepEqual(new Other({ a: 1 }).serialize(), { properties: {}, widgets_values: [1] });
assert.deepEqual(open(Other, { b: 1, a: 1 }, { ...saved, widgets_values: [3, 4] }), { b: 3, a: 4 });
assert.equal(told.length, 1);
console.log("saved workflows");
""")
run = subprocess.run(["node", os.path.join(place, "proof.js")], capture_output=True, text=True)
assert run.returncode == 0, run.stderr
print(run.stdout.strip())
