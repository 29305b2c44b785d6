use atelier_contract::{Draft, Entry, Schema};
use proptest::prelude::*;
use serde_json::json;

use super::fit::{Fit, best_first, candidates, fit};
use super::*;

fn read(name: &str, text: &str) -> FoundRecipe {
    find([(name, text)]).unwrap_or_else(|| panic!("no recipe in {text}"))
}

fn values(recipe: &FoundRecipe) -> Value {
    Value::Object(recipe.values.clone())
}

fn schema(parameters: Value) -> Schema {
    let schema = json!({"category": "image", "subcategory": "a",
        "parameters": {"required": [], "optional": parameters}});
    Schema::from_value(schema).unwrap()
}

fn model(subcategory: &str) -> atelier_contract::Model {
    atelier_contract::Model {
        name: subcategory.to_owned(),
        id: ModelId::new("image", subcategory),
        description: String::new(),
        documentation: String::new(),
        preview: String::new(),
        poster: String::new(),
        unavailable_reason: String::new(),
    }
}

const A1111: &str = "a red fox, in snow\nsecond line\nNegative prompt: blurry, text\nmore\nSteps: 20, Sampler: DPM++ 2M, \
    Schedule type: Karras, CFG scale: 7.5, Seed: 18446744073709551615, Size: 512x768, Model hash: abc, Model: foxes_v2, \
    Hires prompt: \"fur, detailed: yes\", Denoising strength: 0.4, Clip skip: 2, Version: v1.10.0";

#[test]
fn a1111_text_is_read() {
    let recipe = read("parameters", A1111);
    assert_eq!(recipe.program, Program::A1111);
    assert_eq!(recipe.model_name.as_deref(), Some("foxes_v2"));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a red fox, in snow\nsecond line", "negative_prompt": "blurry, text\nmore", "steps": 20,
            "sampler": "DPM++ 2M", "scheduler": "Karras", "cfg_scale": 7.5, "seed": u64::MAX, "width": 512, "height": 768,
            "denoising_strength": 0.4, "clip_skip": 2})
    );
    assert_eq!(recipe.others, ["Hires prompt"]);
}

#[test]
fn a1111_texts_with_missing_parts_are_read() {
    let only_prompt = read("parameters", "a fox");
    assert_eq!(values(&only_prompt), json!({"prompt": "a fox"}));
    assert_eq!(find([("Comment", "a fox")]), None);
    let no_negative = read("UserComment", "a fox\r\nSteps: 4, Seed: 1");
    assert_eq!(
        values(&no_negative),
        json!({"prompt": "a fox", "steps": 4, "seed": 1})
    );
    let no_prompt = read("parameters", "Negative prompt: text\nSteps: 4");
    assert_eq!(
        values(&no_prompt),
        json!({"negative_prompt": "text", "steps": 4})
    );
    let no_steps = read("parameters", "a fox\nSeed: 1, Sampler: Euler, Size: 8x9");
    assert_eq!(no_steps.values["sampler"], json!("Euler"));
    let broken = read("parameters", "a fox\nSteps: , Seed: x, Size: big, \"");
    assert_eq!(broken.values["seed"], json!("x"));
}

#[test]
fn values_with_commas_and_civitai_resources_are_read() {
    let recipe = read(
        "parameters",
        "a fox\nSteps: 30, Sampler: Euler a, really, Seed: 5, Created Date: 2026-01-01T10:00:00.1Z, Civitai resources: \
         [{\"type\":\"checkpoint\",\"modelVersionId\":1,\"modelName\":\"Foxes, XL\"},{\"type\":\"lora\",\"weight\":0.8}], \
         Civitai metadata: {}, Lora hashes: \"fur: 12, snow: 34\", TI hashes: \"a\", Clip skip: 2",
    );
    assert_eq!(recipe.model_name.as_deref(), Some("Foxes, XL"));
    assert_eq!(recipe.values["sampler"], json!("Euler a, really"));
    assert_eq!(recipe.values["clip_skip"], json!(2));
    assert!(recipe.others.is_empty(), "{:?}", recipe.others);
}

fn comfy() -> Value {
    json!({
        "3": {"class_type": "KSampler", "inputs": {"seed": 156680208700286u64, "steps": 20, "cfg": 8, "sampler_name": "euler",
            "scheduler": "normal", "denoise": 1, "model": ["10", 0], "positive": ["11", 0], "negative": ["11", 1],
            "latent_image": ["5", 0]}},
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "sd/foxes.safetensors"}},
        "5": {"class_type": "EmptyLatentImage", "inputs": {"width": ["12", 0], "height": 768, "batch_size": 1}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": ["13", 0], "clip": ["4", 1]}},
        "7": {"class_type": "CLIPTextEncode", "inputs": {"text": "watermark", "clip": ["4", 1]}},
        "8": {"class_type": "VAEDecode", "inputs": {"samples": ["3", 0], "vae": ["4", 2]}},
        "10": {"class_type": "LoraLoader", "inputs": {"model": ["4", 0], "clip": ["4", 1], "lora_name": "fur"}},
        "11": {"class_type": "ControlNetApplyAdvanced", "inputs": {"positive": ["6", 0], "negative": ["7", 0], "strength": 0.5}},
        "12": {"class_type": "PrimitiveInt", "inputs": {"value": 512}},
        "13": {"class_type": "PrimitiveString", "inputs": {"value": "a red fox"}},
        "20": {"class_type": "KSampler", "inputs": {"seed": 1, "steps": 5, "cfg": 8, "sampler_name": "euler", "denoise": 0.4,
            "scheduler": "normal", "model": ["10", 0], "positive": ["6", 0], "negative": ["7", 0], "latent_image": ["3", 0]}}
    })
}

#[test]
fn submitted_comfyui_workflows_are_read() {
    let recipe = read("prompt", &comfy().to_string());
    assert_eq!(recipe.program, Program::ComfyUi);
    assert_eq!(recipe.model_name.as_deref(), Some("foxes"));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a red fox", "negative_prompt": "watermark", "seed": 156680208700286u64, "steps": 20, "cfg_scale": 8,
            "sampler": "euler", "scheduler": "normal", "width": 512, "height": 768})
    );
    // Tags of WebP files have the name in the text; video savers put both into one text.
    let tagged = read("Make", &format!("Prompt:{}", comfy()));
    assert_eq!(tagged.values, recipe.values);
    let nested = json!({"prompt": comfy().to_string(), "workflow": {}});
    assert_eq!(read("comment", &nested.to_string()).values, recipe.values);
    let with_nan =
        comfy()
            .to_string()
            .replacen("{\"class_type\"", "{\"is_changed\":[NaN],\"class_type\"", 1);
    assert_eq!(read("prompt", &with_nan).values, recipe.values);
}

#[test]
fn comfyui_workflows_with_separate_sampler_nodes_are_read() {
    let graph = json!({
        "1": {"class_type": "SamplerCustomAdvanced", "inputs": {"noise": ["2", 0], "guider": ["3", 0], "sampler": ["4", 0],
            "sigmas": ["5", 0], "latent_image": ["6", 0]}},
        "2": {"class_type": "RandomNoise", "inputs": {"noise_seed": 9}},
        "3": {"class_type": "BasicGuider", "inputs": {"model": ["7", 0], "conditioning": ["8", 0]}},
        "4": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
        "5": {"class_type": "BasicScheduler", "inputs": {"scheduler": "simple", "steps": 28, "denoise": 1, "model": ["7", 0]}},
        "6": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 1024, "height": 1024}},
        "7": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux1-dev.safetensors"}},
        "8": {"class_type": "FluxGuidance", "inputs": {"guidance": 3.5, "conditioning": ["9", 0]}},
        "9": {"class_type": "CLIPTextEncode", "inputs": {"text": "a fox", "clip": ["10", 0]}},
        "10": {"class_type": "DualCLIPLoader", "inputs": {"clip_name1": "t5xxl"}}
    });
    let recipe = read("prompt", &graph.to_string());
    assert_eq!(recipe.model_name.as_deref(), Some("flux1-dev"));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a fox", "seed": 9, "steps": 28, "guidance": 3.5, "sampler": "euler", "scheduler": "simple",
            "width": 1024, "height": 1024})
    );
}

#[test]
fn saved_comfyui_workflows_are_read() {
    let workflow = json!({
        "last_node_id": 9, "version": 0.4,
        "nodes": [
            {"id": 3, "type": "KSampler", "mode": 0, "widgets_values": [7, "randomize", 20, 8, "euler", "normal", 1],
                "inputs": [{"name": "model", "link": 1}, {"name": "positive", "link": 4}, {"name": "negative", "link": 6},
                    {"name": "latent_image", "link": 2}]},
            {"id": 4, "type": "CheckpointLoaderSimple", "widgets_values": ["foxes.ckpt"]},
            {"id": 5, "type": "EmptyLatentImage", "widgets_values": [640, 480, 1]},
            {"id": 6, "type": "CLIPTextEncode", "widgets_values": ["a fox"], "inputs": [{"name": "clip", "link": null}]},
            {"id": 7, "type": "CLIPTextEncode", "widgets_values": ["text"]},
            {"id": 8, "type": "KSampler", "mode": 4, "widgets_values": [8, "fixed", 1, 1, "ddim", "normal", 1]}
        ],
        "links": [[1, 4, 0, 3, 0, "MODEL"], [2, 5, 0, 3, 3, "LATENT"], [4, 6, 0, 3, 1, "CONDITIONING"],
            [6, 7, 0, 3, 2, "CONDITIONING"], [], "x", [1]]
    });
    let recipe = read("workflow", &workflow.to_string());
    assert_eq!(recipe.model_name.as_deref(), Some("foxes"));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a fox", "negative_prompt": "text", "seed": 7, "steps": 20, "cfg_scale": 8, "sampler": "euler",
            "scheduler": "normal", "width": 640, "height": 480})
    );
}

/// A link may lead back to its own node, and a node may not exist.
#[test]
fn circular_and_broken_workflows_are_survived() {
    let graph = json!({
        "1": {"class_type": "KSampler", "inputs": {"seed": ["1", 0], "positive": ["2", 0], "model": ["99", 0], "steps": {"a": []}}},
        "2": {"class_type": "ConditioningCombine", "inputs": {"conditioning_1": ["2", 0], "conditioning_2": ["1", 0]}},
        "3": null, "4": {"class_type": 5}, "5": {"class_type": "x", "inputs": [1]}
    });
    assert_eq!(find([("prompt", graph.to_string().as_str())]), None);
}

#[test]
fn swarmui_json_is_read() {
    let text = json!({"sui_image_params": {"prompt": "a fox", "negativeprompt": "", "model": "Flux/flux1-dev-fp8", "seed": 5,
        "steps": 25, "cfgscale": 1.0, "aspectratio": "Custom", "width": 512, "height": 768, "sampler": "euler",
        "vae": "ae", "swarm_version": "0.9"}});
    let recipe = read("parameters", &text.to_string());
    assert_eq!(recipe.program, Program::SwarmUi);
    assert_eq!(recipe.model_name.as_deref(), Some("flux1-dev-fp8"));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a fox", "seed": 5, "steps": 25, "cfg_scale": 1.0, "sampler": "euler", "width": 512, "height": 768})
    );
    assert_eq!(recipe.others, ["vae"]);
}

#[test]
fn invokeai_metadata_of_all_versions_are_read() {
    let now = json!({"app_version": "5", "positive_prompt": "a fox", "negative_prompt": "text", "seed": 5, "steps": 30,
        "cfg_scale": 7.5, "scheduler": "dpmpp_2m_k", "width": 768, "height": 432, "model": {"name": "foxes", "key": "1"}});
    let recipe = read("invokeai_metadata", &now.to_string());
    assert_eq!(recipe.model_name.as_deref(), Some("foxes"));
    assert_eq!(recipe.values["negative_prompt"], json!("text"));
    assert_eq!(recipe.values["scheduler"], json!("dpmpp_2m_k"));
    let before = json!({"model_weights": "sd-1.4", "image": {"prompt": [{"prompt": "a fox [text]", "weight": 1.0}], "steps": 50,
        "cfg_scale": 7.5, "height": 512, "width": 512, "seed": 1, "sampler": "k_lms"}});
    let recipe = read("sd-metadata", &before.to_string());
    assert_eq!(recipe.model_name.as_deref(), Some("sd-1.4"));
    assert_eq!(recipe.values["prompt"], json!("a fox"));
    assert_eq!(recipe.values["negative_prompt"], json!("text"));
    let first = "\"a fox, \\\"red\\\"\" -s50 -S 123 -W 512 -H 640 -C 7.5 -A k_lms -x";
    let recipe = read("Dream", first);
    assert_eq!(recipe.values["seed"], json!(123));
    assert_eq!(recipe.values["height"], json!(640));
    assert_eq!(recipe.values["sampler"], json!("k_lms"));
}

#[test]
fn ateliers_own_recipe_is_preferred() {
    let own = json!({"model": {"category": "image", "subcategory": "tessera"}, "inputs": {"prompt": "a fox", "mist": 0.5,
        "api_key": "sk-1"}, "seed": 7});
    let own = own.to_string();
    let recipe = find([("parameters", A1111), ("atelier", own.as_str())]).unwrap();
    assert_eq!(recipe.program, Program::Atelier);
    assert_eq!(recipe.model, Some(ModelId::new("image", "tessera")));
    assert_eq!(
        values(&recipe),
        json!({"prompt": "a fox", "mist": 0.5, "seed": 7})
    );
    for odd in ["{}", "[]", r#"{"model":1}"#, r#"{"model":"a","inputs":[]}"#] {
        assert_eq!(find([("atelier", odd)]), None, "{odd}");
    }
}

#[test]
fn hostile_texts_are_survived() {
    let long = format!("{}\nSteps: 1", "a".repeat(9 << 20));
    assert_eq!(find([("parameters", long.as_str())]), None);
    let nested = format!("{}{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    assert_eq!(
        find([("prompt", nested.as_str()), ("workflow", nested.as_str())]),
        None
    );
    let huge = read(
        "parameters",
        &format!(
            "a\nSteps: {}, Seed: -1e999, Size: 99999999999x1",
            "9".repeat(400)
        ),
    );
    let schema =
        schema(json!([{"name": "steps", "type": "integer"}, {"name": "seed", "type": "integer"}]));
    assert!(!fit(&huge, &schema).misfits().is_empty());
    let commas = format!("a\nSteps: 1{}", ", [".repeat(2 << 20));
    assert!(find([("parameters", commas.as_str())]).is_some());
    let quotes = format!("a\nSteps: \"{}", "\\".repeat(1 << 20));
    assert!(find([("parameters", quotes.as_str())]).is_some());
    // Each node leads to every other.
    let links: Map<String, Value> = (0..300)
        .map(|n| (format!("conditioning_{n}"), json!([n.to_string(), 0])))
        .collect();
    let node = |n: usize| {
        (
            n.to_string(),
            json!({"class_type": "KSampler", "inputs": links}),
        )
    };
    let graph = Value::Object((0..300).map(node).collect());
    assert_eq!(find([("prompt", graph.to_string().as_str())]), None);
}

#[test]
fn values_fit_parameters_of_other_names() {
    let recipe = read("parameters", A1111);
    let schema = schema(json!([
        {"name": "prompt", "type": "string"}, {"name": "num_inference_steps", "type": "integer", "maximum": 10},
        {"name": "guidance_scale", "type": "number"}, {"name": "seed", "type": "integer"},
        {"name": "scheduler", "type": "string", "allowedValues": ["K_EULER", "DPMPP_2M"]},
        {"name": "aspect_ratio", "type": "string", "allowedValues": ["1:1", "2:3", "3:2"]}
    ]));
    let Fit { rerun, fitting } = fit(&recipe, &schema);
    let entry = |name: &str| rerun.draft.get(name).cloned();
    assert_eq!(entry("guidance_scale"), Some(Entry::Value(json!(7.5))));
    assert_eq!(entry("scheduler"), Some(Entry::Value(json!("DPMPP_2M"))));
    assert_eq!(entry("aspect_ratio"), Some(Entry::Value(json!("2:3"))));
    let misfits: Vec<&str> = rerun
        .differences
        .iter()
        .map(|it| it.parameter.as_str())
        .collect();
    assert_eq!(misfits[0], "num_inference_steps");
    assert!(
        misfits.contains(&"negative_prompt") && misfits.contains(&"clip_skip"),
        "{misfits:?}"
    );
    assert!(!misfits.contains(&"width"), "{misfits:?}");
    assert_eq!(fitting, 5);
}

#[test]
fn a_size_is_one_of_the_permitted_ones_or_a_misfit() {
    let recipe = read("parameters", "a fox\nSteps: 4, Size: 512x768");
    let of = |choices: Value| {
        let schema = schema(
            json!([{"name": "prompt", "type": "string"}, {"name": "size", "type": "string", "allowedValues": choices}]),
        );
        fit(&recipe, &schema)
    };
    let found = of(json!(["768*512", "512*768"]));
    assert_eq!(
        found.rerun.draft.get("size"),
        Some(&Entry::Value(json!("512*768")))
    );
    let none = of(json!(["1024x1024"]));
    assert_eq!(none.rerun.draft.get("size"), None);
    assert!(
        none.misfits().iter().any(|it| it.contains("width")),
        "{:?}",
        none.misfits()
    );
}

#[test]
fn what_the_file_lacks_is_listed() {
    let schema = json!({"category": "image", "subcategory": "a", "parameters": {"required":
        [{"name": "prompt", "type": "string"}, {"name": "image_url", "type": "string"}], "optional": []}});
    let schema = Schema::from_value(schema).unwrap();
    let found = fit(&read("parameters", "a fox"), &schema);
    assert_eq!(
        found.misfits(),
        ["image_url is required, and the file does not contain it."]
    );
}

/// A file may come from anybody: it must not fill a secret.
#[test]
fn secrets_are_not_filled() {
    let recipe = find([(
        "atelier",
        r#"{"model":"image/a","inputs":{"prompt":"a","key":"sk-1"}}"#,
    )])
    .unwrap();
    let schema = schema(
        json!([{"name": "prompt", "type": "string"}, {"name": "key", "type": "string", "format": "password"}]),
    );
    let found = fit(&recipe, &schema.with_secrets_apart());
    let expected = Draft::from_values(json!({"prompt": "a"}).as_object().unwrap());
    assert_eq!(found.rerun.draft, expected);
}

#[test]
fn the_models_that_fit_best_are_first() {
    let models = ["a", "foxes", "b"].map(model);
    let recipe = read("parameters", A1111);
    let found = candidates(&recipe, &models, &[2, 0, 1], "image");
    let names: Vec<&str> = found.iter().map(|it| it.subcategory.as_str()).collect();
    assert_eq!(names, ["foxes", "b", "a"]);
    let few = fit(
        &recipe,
        &schema(json!([{"name": "prompt", "type": "string"}])),
    );
    let most = fit(
        &recipe,
        &schema(
            json!([{"name": "prompt", "type": "string"}, {"name": "steps", "type": "integer"}]),
        ),
    );
    let mut fits = vec![
        (ModelId::new("image", "few"), few),
        (ModelId::new("image", "most"), most),
    ];
    best_first(&mut fits, &recipe);
    let names: Vec<&str> = fits.iter().map(|it| it.0.subcategory.as_str()).collect();
    assert_eq!(names, ["most", "few"]);
}

proptest! {
    #[test]
    fn any_text_is_survived(name in "parameters|prompt|workflow|Dream|sd-metadata|atelier|x", text in "\\PC{0,80}|(Steps: [0-9x, :\"\\[{a-z]{0,40})") {
        if let Some(recipe) = find([(name.as_str(), text.as_str())]) {
            drop(fit(&recipe, &schema(json!([{"name": "prompt", "type": "string"}]))));
            drop(recipe.summary());
        }
    }
}
