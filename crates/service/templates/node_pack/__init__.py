"""The models of {{ service_name }} as nodes for ComfyUI: see README.md."""

import importlib

MODULES = {{ modules }}

NODE_CLASS_MAPPINGS = {}
NODE_DISPLAY_NAME_MAPPINGS = {}
for _name in MODULES:
    _module = importlib.import_module("." + _name, __name__)
    NODE_CLASS_MAPPINGS.update(_module.NODE_CLASS_MAPPINGS)
    NODE_DISPLAY_NAME_MAPPINGS.update(_module.NODE_DISPLAY_NAME_MAPPINGS)

# Contains the nodes' help pages and the editor script.
WEB_DIRECTORY = "./web"
