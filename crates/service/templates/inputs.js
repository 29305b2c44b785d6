// ComfyUI saves what the widgets of a node hold by their position. For these nodes this script saves the names
// of the inputs as well, and restores by name when the model has got others since then. A node that was saved
// without names is left as it is.

import { app } from "../../scripts/app.js";

const NODES = {{ nodes }};
const PROPERTY = "atelier_inputs";
const CONTROL = "control_after_generate";

const saved = (node) => (node.widgets ?? []).filter((widget) => widget.serialize !== false);

/** One name a saved widget. What becomes of a seed after a run belongs to the widget before it. */
const names = (widgets) =>
    widgets.map(({ name }, at) => (name === CONTROL && at > 0 ? `${widgets[at - 1].name} ${name}` : name));

/** What the widgets are to hold, if they are others than when the node was saved; else null. */
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
