//! Outputs at hosts that know nothing of CORS, and outputs whose addresses and hosts say something else than the files are.

use atelier_end_to_end::find::by;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::wait::{Seen, becomes, until};
use atelier_end_to_end::{Result, http};
use fantoccini::key::Key;
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::io::Cursor;

use crate::host::{File, Host};
use crate::studio::{Studio, TIMEOUT, play};

const BYTES: &str = "application/octet-stream";

/// A small film that every browser plays, and a picture: samples that the local service draws.
async fn film_and_picture() -> Result<(Bytes, Bytes)> {
    let service = Service::with_site(&[]).await?;
    let (_, models) = http::get(&format!("{}/api/models", service.address())).await?;
    let models: Value = serde_json::from_slice(&models)?;
    let preview = async |subcategory: &str| -> Result<Bytes> {
        let models = models["data"].as_array().into_iter().flatten();
        let mut previews = models
            .filter(|model| model["subcategory"] == *subcategory)
            .filter_map(|model| model["preview"].as_str());
        let preview = previews.next().ok_or("no preview")?;
        // It may still be drawn.
        let bytes = until(preview, TIMEOUT, async || {
            Ok(match http::get(preview).await? {
                (200, bytes) => Seen::Yes(bytes),
                (status, _) => Seen::NotYet(status.to_string()),
            })
        });
        bytes.await
    };
    Ok((preview("silk").await?, preview("tessera").await?))
}

impl Studio<'_> {
    /// Generates a task that is completed with these outputs.
    async fn generate_outputs(&self, prompt: &str, outputs: &[String]) -> Result<()> {
        let done = json!({"success": true, "data": {"status": "completed", "output": outputs}});
        self.service.answer("/v2/response", &done);
        self.generate(prompt).await?;
        self.state("Completed").await
    }

    /// Packs all outputs of the gallery, and gives the names in the archive.
    async fn pack_all(&self) -> Result<Vec<String>> {
        let browser = self.browser;
        self.open("/gallery").await?;
        browser.find(&by("list", "Outputs")).await?;
        let tiles = "return document.querySelectorAll('.tile').length > 0";
        becomes(browser, "outputs", tiles, true).await?;
        let focus = "document.querySelector('[data-output]').focus()";
        self.script(focus).await?;
        let keys = format!("{}a", char::from(Key::Control));
        browser
            .client
            .active_element()
            .await?
            .send_keys(&keys)
            .await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        browser
            .press(&by("button", "Download").within(&bar))
            .await?;
        let saved = browser.downloaded(1, ".zip").await?.remove(0);
        let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(saved)?))?;
        let mut names = Vec::new();
        for at in 0..archive.len() {
            names.push(archive.by_index(at)?.name()?.into_owned());
        }
        Ok(names)
    }
}

/// Guards against pictures and films that a plain element shows being reported as gone, against a download that says that the
/// network or the service is down, and against an archive that lacks files without a reason.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_of_a_host_without_cors_are_shown_and_what_cannot_be_done_is_told() {
    play("outputs_of_a_host_without_cors", async |studio| {
        let browser = studio.browser;
        let (film, picture) = film_and_picture().await?;
        let files: [(&str, File); 2] = [
            ("/a.png", ("image/png", picture)),
            ("/b.webm", ("video/webm", film)),
        ];
        let host = Host::start(false, &files).await?;
        let outputs = ["/a.png", "/b.webm"].map(|path| host.address(path));
        let outputs = [&outputs[..], &["/outputs/own.svg".to_owned()]].concat();
        studio.generate_outputs("elsewhere", &outputs).await?;
        let shown = "
            const pictures = [...document.querySelectorAll('.outputs img')].filter(it => it.naturalWidth);
            const films = [...document.querySelectorAll('.outputs video')].filter(it => it.videoWidth);
            return `${pictures.length} pictures, ${films.length} films`";
        becomes(browser, "what is shown", shown, "2 pictures, 1 films").await?;
        let told = "
            const notes = [...document.querySelectorAll('.outputs .unreadable')];
            return notes.map(it => [it.innerText.includes('(CORS)'), it.querySelector('a').href])";
        let expected = json!([[true, outputs[0]], [true, outputs[1]]]);
        becomes(browser, "what is told", told, expected).await?;
        let text = "return document.body.innerText";
        let never = async |at: &str| -> Result<()> {
            let text = studio.script(text).await?.to_string();
            for wrong in ["No longer available", "is down", "are down", "Not loaded", "the file is gone"] {
                assert!(!text.contains(wrong), "{at}: {wrong} in {text}");
            }
            Ok(())
        };
        never("the page").await?;

        let first = "document.querySelector('.outputs .output .save').click()";
        studio.script(first).await?;
        browser.see_text("The output was not downloaded. The file's host does not let this page read it (CORS).", TIMEOUT).await?;
        never("the download").await?;

        let mut names = studio.pack_all().await?;
        names.retain(|name| name.contains("plain"));
        assert_eq!(names.len(), 1, "{names:?}");
        let why = "2 outputs are not in it, because the file's host does not let this page read them (CORS)";
        browser.see_text(why, TIMEOUT).await?;
        never("the archive").await?;

        let first = "document.querySelector('.tile-open[data-output$=\"/0\"]').click()";
        studio.script(first).await?;
        browser.find(&by("dialog", "Output")).await?;
        let large = "return document.querySelector('.stage img')?.naturalWidth > 0";
        becomes(browser, "the picture, large", large, true).await?;
        browser.find(&by("link", "Open in a new tab")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a kind that is taken from category and address alone, against a film that can't be played being reported as
/// gone, and against files that are named after their addresses, or `.png` for want of a better word.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_shown_and_named_as_what_they_are() {
    play("files_are_shown_and_named", async |studio| {
        let browser = studio.browser;
        let (film, picture) = film_and_picture().await?;
        let unknown = Bytes::from_static(b"\0\0\0\x18ftypisom\0\0\0\0isomhvc1\0\0\0\x08free");
        let scan = Bytes::from_static(b"II*\0\x08\0\0\0");
        let model = Bytes::from_static(b"PK\x03\x04\x0a\0\0\0");
        let files: [(&str, File); 7] = [
            ("/blob/9f3c", (BYTES, picture.clone())),
            ("/c.mp4", (BYTES, picture)),
            ("/wrong.png", ("image/png", film.clone())),
            ("/view", (BYTES, film)),
            ("/h265.mp4", ("video/mp4", unknown)),
            ("/scan.tiff", ("image/tiff", scan)),
            ("/model.usdz", ("model/vnd.usdz+zip", model)),
        ];
        let host = Host::start(true, &files).await?;
        let paths = [
            "/blob/9f3c",
            "/c.mp4",
            "/wrong.png",
            "/view?filename=a.webm",
            "/h265.mp4",
            "/scan.tiff",
            "/model.usdz",
        ];
        let outputs = paths.map(|path| host.address(path));
        studio.generate_outputs("formats", &outputs).await?;
        let shown = "
            return [...document.querySelectorAll('.outputs .output')].map(it => {
                if (it.querySelector('img')?.naturalWidth) return 'picture';
                if (it.querySelector('video')?.videoWidth) return 'film';
                const words = it.querySelector('.media-gone')?.innerText ?? '';
                if (words.includes(\"can't play it\") && words.includes('Download it')) return 'not played';
                if (words.includes(\"can't show it\") && words.includes('Download it')) return 'not shown';
                return it.querySelector('.unsafe-output') ? 'address' : words;
            })";
        let expected = json!([
            "picture", "picture", "film", "film", "not played", "not shown", "address"
        ]);
        becomes(browser, "what is shown", shown, expected).await?;
        let kinds = "return [...document.querySelectorAll('.outputs .output')].map(it => it.dataset.kind)";
        let expected = json!(["image", "image", "video", "video", "video", "image", "other"]);
        becomes(browser, "the kinds", kinds, expected).await?;

        let endings = |names: &[String]| {
            let endings = names.iter().filter_map(|name| name.rsplit_once('.'));
            let mut endings: Vec<String> = endings.map(|(_, ending)| ending.to_owned()).collect();
            endings.sort();
            endings
        };
        let expected = ["mp4", "png", "png", "tiff", "usdz", "webm", "webm"];
        let names = studio.pack_all().await?;
        let files: Vec<String> = names.into_iter().filter(|name| name.contains("plain")).collect();
        assert_eq!(endings(&files), expected, "in the archive");

        studio.open("/models/image/plain").await?;
        studio.state("Completed").await?;
        studio
            .script("document.querySelectorAll('.outputs .output .save').forEach(it => it.click())")
            .await?;
        for (count, ending) in [(2, ".webm"), (2, ".png"), (1, ".tiff"), (1, ".usdz"), (1, ".mp4")] {
            browser.downloaded(count, ending).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a text that came as data and is shown in base 64, without a way to save it, and missing in the archive.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_came_as_data_is_read_saved_and_packed() {
    play("a_text_that_came_as_data", async |studio| {
        let browser = studio.browser;
        let outputs = [
            "data:text/plain;base64,T25lIGxpbmUuCkFub3RoZXIgb25lLg==".to_owned(),
            "data:text/html,<script>window.pwned=1</script>".to_owned(),
            "data:application/pdf;base64,JVBERi0=".to_owned(),
        ];
        studio.generate_outputs("data", &outputs).await?;
        browser.see_text("Another one.", TIMEOUT).await?;
        browser.see_text("window.pwned=1</script>", TIMEOUT).await?;
        browser
            .see_text("A file of type application/pdf.", TIMEOUT)
            .await?;
        let text = studio.script("return document.body.innerText").await?;
        assert!(!text.to_string().contains("base64"), "{text}");
        let save = "document.querySelector('.output .save').click()";
        studio.script(save).await?;
        let saved = browser.downloaded(1, ".txt").await?.remove(0);
        assert_eq!(std::fs::read_to_string(saved)?, "One line.\nAnother one.");
        let mut files = studio.pack_all().await?;
        files.retain(|name| !name.starts_with("recipe") && !name.ends_with(".json"));
        let endings: Vec<_> = files
            .iter()
            .filter_map(|it| it.rsplit('.').next())
            .collect();
        for ending in ["txt", "html", "pdf"] {
            assert!(endings.contains(&ending), "{files:?}");
        }
        Ok(())
    })
    .await;
}
