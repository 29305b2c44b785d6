// ComfyUI saves the values of a node's widgets by position. For these nodes this script also saves the names of the
// inputs, and restores the values by name if the model's inputs have changed since. Nodes that were saved without names
// are not changed.

import { app } from "../../scripts/app.js";

const NODES = {{ nodes }};
const PROPERTY = "atelier_inputs";
const CONTROL = "control_after_generate";

const saved = (node) => (node.widgets ?? []).filter((widget) => widget.serialize !== false);

/** Returns a name for each saved widget. The control of a seed includes the name of the widget before it. */
const names = (widgets) =>
    widgets.map(({ name }, at) => (name === CONTROL && at > 0 ? `${widgets[at - 1].name} ${name}` : name));

/** Returns the values of the widgets if these differ from the saved ones in name or order, otherwise null. */
function restored(node, { properties, widgets_values: values }) {
    const before = properties?.[PROPERTY];
    if (!Array.isArray(before) || !Array.isArray(values) || before.length !== values.length) return null;
    const widgets = saved(node);
    const now = names(widgets);
    if (JSON.stringify(now) === JSON.stringify(before)) return null;
    const held = new Map(before.map((name, at) => [name, values[at]]));
    return {
        values: widgets.map((widget, at) => (held.has(now[at]) ? held.get(now[at]) : widget.value)),
        gone: before.filter((name) => !now.includes(name)),
        added: now.filter((name) => !held.has(name)),
    };
}

function warn(title, { gone, added }) {
    if (!gone.length && !added.length) return;
    const parts = ["The model has other inputs than when this workflow was saved. Check the node before you run it."];
    if (gone.length) parts.push(`Not there any more: ${gone.join(", ")}.`);
    if (added.length) parts.push(`New, with their defaults: ${added.join(", ")}.`);
    const detail = parts.join(" ");
    console.warn(`${title}: ${detail}`);
    app.extensionManager?.toast?.add({ severity: "warn", summary: title, detail });
}

app.registerExtension({
    name: {{ extension }},
    beforeRegisterNodeDef(nodeType, nodeData) {
        if (!NODES.includes(nodeData.name)) return;
        const { configure, onSerialize } = nodeType.prototype;
        nodeType.prototype.onSerialize = function (data) {
            onSerialize?.apply(this, arguments);
            data.properties = { ...data.properties, [PROPERTY]: names(saved(this)) };
        };
        nodeType.prototype.configure = function (data) {
            const found = restored(this, data);
            if (found) {
                data.widgets_values = found.values;
                warn(nodeData.display_name ?? nodeData.name, found);
            }
            return configure.apply(this, arguments);
        };
    },
});
