//! Output files say how they were made.

mod support;

use std::io::Cursor;

use atelier_metadata::{ATELIER, DigitalSourceType, PARAMETERS, read};
use image::{DynamicImage, ImageFormat};
use serde_json::{Value, json};
use support::{STRATA, Server, request};

const QUICK: [&str; 4] = ["--speed", "0", "--draw-scale", "0.25"];

fn recipe(bytes: &[u8]) -> Value {
    let text = read(bytes).text(ATELIER).expect("a recipe").to_owned();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn files_of_built_in_models_contain_their_recipe() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &QUICK);
    let models = [STRATA, ("video", "silk"), ("audio", "reverie")];
    for model in models {
        let input = json!({"prompt": "a fox, ÄÖ", "seed": 7});
        let task = server.generate(model, input);
        server.wait(&task);
        let url = &server.output_of(&task)[0];
        let file = server.get(url);
        // The announced size is that of the changed bytes.
        assert_eq!(file.header("content-length"), file.bytes.len().to_string());
        let recipe = recipe(&file.bytes);
        assert_eq!(recipe["version"], 1);
        assert_eq!(recipe["model"], format!("{}/{}", model.0, model.1));
        // The whole id is a part of the addresses of all outputs of the task.
        let id = task["id"].as_str().unwrap();
        assert_eq!(recipe["task"], id[..8]);
        let has_id = |part: &[u8]| part == id.as_bytes();
        assert!(!file.bytes.windows(id.len()).any(has_id));
        assert_eq!(recipe["seed"], 7);
        assert_eq!(recipe["inputs"]["prompt"], "a fox, ÄÖ");
        let metadata = read(&file.bytes);
        let line = metadata.text(PARAMETERS).unwrap();
        assert!(
            line.starts_with("a fox, ÄÖ\n") && line.contains("Seed: 7, "),
            "{line}"
        );
        let source = DigitalSourceType::AlgorithmicMedia.uri();
        assert_eq!(metadata.digital_source_type.as_deref(), Some(source));
        if model == STRATA {
            assert!(image::load_from_memory(&file.bytes).is_ok());
        }
    }
}

#[test]
fn without_recipes_the_same_input_gives_the_same_file() {
    let server = Server::start(&[&QUICK[..], &["--embed-recipe", "off"]].concat());
    let make = || {
        let output = server.output(STRATA, json!({"prompt": "a", "seed": 7}));
        server.get(&output[0]).bytes
    };
    let file = make();
    assert_eq!(read(&file).entries, []);
    assert!(file == make());
}

#[test]
fn an_output_can_be_the_input_of_the_next_model() {
    let server = Server::start(&QUICK);
    let first = server.output(STRATA, json!({"prompt": "a", "seed": 7}));
    let input = json!({"prompt": "b", "image_url": first[0]});
    let second = server.output(("image", "repaint"), input);
    let recipe = recipe(&server.get(&second[0]).bytes);
    // The address of an output works like a key.
    assert_eq!(recipe["omitted"], json!(["image_url"]));
    assert_eq!(recipe["inputs"]["prompt"], "b");
}

#[cfg(unix)]
mod remote {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    const SECRET: &str = "sk-CASE-SECRET-123";

    fn png() -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let image = DynamicImage::new_rgb8(4, 4);
        image.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    /// Inserts a chunk after the header.
    fn with_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let png = png();
        let length = (data.len() as u32).to_be_bytes();
        let chunk = [&length[..], kind, data, &[0; 4]].concat();
        [&png[..33], &chunk, &png[33..]].concat()
    }

    /// Starts a service with a model that outputs these files.
    fn start(data: &Path, files: &[(&str, Vec<u8>)]) -> Server {
        let source = data.join("files");
        fs::create_dir(&source).unwrap();
        for (name, bytes) in files {
            fs::write(source.join(name), bytes).unwrap();
        }
        let program = data.join("program.sh");
        let script = format!("#!/bin/sh\ncat > /dev/null\ncp {}/* .\n", source.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let models = format!(
            "builtin = false\n[[model]]\ncategory = \"image\"\nsubcategory = \"own\"\nname = \"Own\"\n\
             command = {{ program = {program:?} }}\n\
             parameter = [\n\
                 {{ name = \"prompt\", type = \"string\", required = true }},\n\
                 {{ name = \"api_key\", type = \"string\", required = true, secret = true }},\n\
             ]\n"
        );
        Server::start_with_models(data, &models, &[])
    }

    fn outputs(server: &Server) -> Vec<Vec<u8>> {
        let input = json!({"prompt": format!("a fox with {SECRET}"), "api_key": SECRET});
        let body = request(("image", "own"), input);
        let mut task = request(("image", "own"), json!({}));
        task["id"] = server.post("/v2/generate", &body).json()["data"]["id"].clone();
        server.wait(&task);
        let urls = server.output_of(&task);
        urls.iter().map(|url| server.get(url).bytes).collect()
    }

    /// Guards against a key in a file that its user passes on, also if the user has typed it into the prompt.
    #[test]
    fn a_secret_is_not_in_a_file() {
        let data = tempfile::tempdir().unwrap();
        let server = start(data.path(), &[("0.png", png())]);
        let file = outputs(&server).remove(0);
        let recipe = recipe(&file);
        assert_eq!(recipe["inputs"], json!({"prompt": "a fox with [secret]"}));
        // No text in it is compressed.
        let has_secret = |part: &[u8]| part == SECRET.as_bytes();
        assert!(!file.windows(SECRET.len()).any(has_secret));
        // A program may be anything.
        assert_eq!(read(&file).digital_source_type, None);
    }

    #[test]
    fn files_with_metadata_of_their_own_stay_as_they_are() {
        let data = tempfile::tempdir().unwrap();
        let files = [
            ("0.png", with_chunk(b"tEXt", b"workflow\0{}")),
            ("1.png", with_chunk(b"caBX", b"jumb")),
            ("2.png", png()[..40].to_vec()),
            ("3.txt", b"RIFF or PNG".to_vec()),
        ];
        let server = start(data.path(), &files);
        let outputs = outputs(&server);
        assert_eq!(outputs.len(), files.len());
        for (made, (name, given)) in outputs.iter().zip(&files) {
            assert!(made == given, "{name}");
        }
    }
}
