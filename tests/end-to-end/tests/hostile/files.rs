//! Outputs at hosts without CORS headers, and outputs whose addresses or content types do not match the files.

use atelier_end_to_end::find::by;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use atelier_end_to_end::{Result, http};
use fantoccini::key::Key;
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::io::Cursor;

use crate::host::{File, Host};
use crate::studio::{Studio, TIMEOUT, run_until_settled};

const BYTES: &str = "application/octet-stream";

/// Returns a small video that every browser plays, and an image. Both are previews that the local service draws.
async fn video_and_image() -> Result<(Bytes, Bytes)> {
    let service = Service::start_with_site(&[]).await?;
    let (_, models) = http::get(&format!("{}/api/models", service.address())).await?;
    let models: Value = serde_json::from_slice(&models)?;
    let preview = async |subcategory: &str| -> Result<Bytes> {
        let models = models["data"].as_array().into_iter().flatten();
        let mut previews = models
            .filter(|model| model["subcategory"] == *subcategory)
            .filter_map(|model| model["preview"].as_str());
        let preview = previews.next().ok_or("no preview")?;
        // The service may still be drawing it.
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
    /// Completes a task with these outputs.
    async fn generate_outputs(&self, prompt: &str, outputs: &[String]) -> Result<()> {
        let done = json!({"success": true, "data": {"status": "completed", "output": outputs}});
        self.service.answer("/v2/response", &done);
        self.generate(prompt).await?;
        self.wait_for_status("Completed").await
    }

    /// Downloads all outputs of the gallery, and returns the file names in the archive.
    async fn pack_all(&self) -> Result<Vec<String>> {
        let browser = self.browser;
        self.open("/gallery").await?;
        browser.find(&by("list", "Outputs")).await?;
        let tiles = "return document.querySelectorAll('.tile').length > 0";
        wait_for_value(browser, "outputs", tiles, true).await?;
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
        let saved = browser.wait_for_downloads(1, ".zip").await?.remove(0);
        let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(saved)?))?;
        let mut names = Vec::new();
        for at in 0..archive.len() {
            names.push(archive.by_index(at)?.name()?.into_owned());
        }
        Ok(names)
    }
}

/// Guards against images and videos that are reported as lost although an element can show them, against a failed download
/// that is reported as an outage of the network or the service, and against an archive that lacks files without a reason.
#[tokio::test(flavor = "multi_thread")]
async fn outputs_of_a_host_without_cors_are_shown_and_failed_downloads_explained() {
    let name = "outputs_of_a_host_without_cors_are_shown_and_failed_downloads_explained";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let (video, image) = video_and_image().await?;
        let files: [(&str, File); 2] = [
            ("/a.png", ("image/png", image)),
            ("/b.webm", ("video/webm", video)),
        ];
        let host = Host::start(false, &files).await?;
        let outputs = ["/a.png", "/b.webm"].map(|path| host.address(path));
        let outputs = [&outputs[..], &["/outputs/own.svg".to_owned()]].concat();
        studio.generate_outputs("elsewhere", &outputs).await?;
        let shown = "
            const images = [...document.querySelectorAll('.outputs img')].filter(it => it.naturalWidth);
            const videos = [...document.querySelectorAll('.outputs video')].filter(it => it.videoWidth);
            return `${images.length} images, ${videos.length} videos`";
        wait_for_value(browser, "the shown outputs", shown, "2 images, 1 videos").await?;
        let notes = "
            const notes = [...document.querySelectorAll('.outputs .unreadable')];
            return notes.map(it => [it.innerText.includes('(CORS)'), it.querySelector('a').href])";
        let expected = json!([[true, outputs[0]], [true, outputs[1]]]);
        wait_for_value(browser, "the notes", notes, expected).await?;
        let text = "return document.body.innerText";
        let reports_no_outage = async |at: &str| -> Result<()> {
            let text = studio.script(text).await?.to_string();
            for wrong in ["No longer available", "is down", "are down", "Not loaded", "the file is gone"] {
                assert!(!text.contains(wrong), "{at}: {wrong} in {text}");
            }
            Ok(())
        };
        reports_no_outage("the page").await?;

        let first = "document.querySelector('.outputs .output .save').click()";
        studio.script(first).await?;
        browser.wait_for_text("The output was not downloaded. The file's host does not let this page read it (CORS).", TIMEOUT).await?;
        reports_no_outage("the download").await?;

        let mut names = studio.pack_all().await?;
        names.retain(|name| name.contains("plain"));
        assert_eq!(names.len(), 1, "{names:?}");
        let reason = "2 outputs are missing, because the file's host does not let this page read them (CORS)";
        browser.wait_for_text(reason, TIMEOUT).await?;
        reports_no_outage("the archive").await?;

        let first = "document.querySelector('.tile-open[data-output$=\"/0\"]').click()";
        studio.script(first).await?;
        browser.find(&by("dialog", "Output")).await?;
        let large = "return document.querySelector('.stage img')?.naturalWidth > 0";
        wait_for_value(browser, "the image in the lightbox", large, true).await?;
        browser.find(&by("link", "Open in a new tab")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a kind that is derived only from the category and the address, against a video that is reported as lost
/// because it can't be played, and against file extensions from the address, or `.png` by default.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_shown_and_named_by_their_content() {
    let name = "files_are_shown_and_named_by_their_content";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let (video, image) = video_and_image().await?;
        let unknown = Bytes::from_static(b"\0\0\0\x18ftypisom\0\0\0\0isomhvc1\0\0\0\x08free");
        let scan = Bytes::from_static(b"II*\0\x08\0\0\0");
        let model = Bytes::from_static(b"PK\x03\x04\x0a\0\0\0");
        let files: [(&str, File); 7] = [
            ("/blob/9f3c", (BYTES, image.clone())),
            ("/c.mp4", (BYTES, image)),
            ("/wrong.png", ("image/png", video.clone())),
            ("/view", (BYTES, video)),
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
                if (it.querySelector('img')?.naturalWidth) return 'image';
                if (it.querySelector('video')?.videoWidth) return 'video';
                const text = it.querySelector('.media-gone')?.innerText ?? '';
                if (text.includes(\"can't play it\") && text.includes('Download it')) return 'not played';
                if (text.includes(\"can't show it\") && text.includes('Download it')) return 'not shown';
                return it.querySelector('.unsafe-output') ? 'address' : text;
            })";
        let expected = json!([
            "image", "image", "video", "video", "not played", "not shown", "address"
        ]);
        wait_for_value(browser, "the shown outputs", shown, expected).await?;
        let kinds = "return [...document.querySelectorAll('.outputs .output')].map(it => it.dataset.kind)";
        let expected = json!(["image", "image", "video", "video", "video", "image", "other"]);
        wait_for_value(browser, "the kinds", kinds, expected).await?;

        let extensions = |names: &[String]| {
            let extensions = names.iter().filter_map(|name| name.rsplit_once('.'));
            let mut extensions: Vec<String> = extensions.map(|(_, extension)| extension.to_owned()).collect();
            extensions.sort();
            extensions
        };
        let expected = ["mp4", "png", "png", "tiff", "usdz", "webm", "webm"];
        let names = studio.pack_all().await?;
        let files: Vec<String> = names.into_iter().filter(|name| name.contains("plain")).collect();
        assert_eq!(extensions(&files), expected, "in the archive");

        studio.open("/models/image/plain").await?;
        studio.wait_for_status("Completed").await?;
        studio
            .script("document.querySelectorAll('.outputs .output .save').forEach(it => it.click())")
            .await?;
        for (count, extension) in [(2, ".webm"), (2, ".png"), (1, ".tiff"), (1, ".usdz"), (1, ".mp4")] {
            browser.wait_for_downloads(count, extension).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a text in a data URI that is shown in base64, can't be saved, and is missing in the archive.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_in_a_data_uri_is_shown_saved_and_archived() {
    let name = "a_text_in_a_data_uri_is_shown_saved_and_archived";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let outputs = [
            "data:text/plain;base64,T25lIGxpbmUuCkFub3RoZXIgb25lLg==".to_owned(),
            "data:text/html,<script>window.pwned=1</script>".to_owned(),
            "data:application/pdf;base64,JVBERi0=".to_owned(),
        ];
        studio.generate_outputs("data", &outputs).await?;
        browser.wait_for_text("Another one.", TIMEOUT).await?;
        browser
            .wait_for_text("window.pwned=1</script>", TIMEOUT)
            .await?;
        browser
            .wait_for_text("A file of type application/pdf.", TIMEOUT)
            .await?;
        let text = studio.script("return document.body.innerText").await?;
        assert!(!text.to_string().contains("base64"), "{text}");
        let save = "document.querySelector('.output .save').click()";
        studio.script(save).await?;
        let saved = browser.wait_for_downloads(1, ".txt").await?.remove(0);
        assert_eq!(std::fs::read_to_string(saved)?, "One line.\nAnother one.");
        let mut files = studio.pack_all().await?;
        files.retain(|name| !name.starts_with("recipe") && !name.ends_with(".json"));
        let extensions: Vec<_> = files
            .iter()
            .filter_map(|it| it.rsplit('.').next())
            .collect();
        for extension in ["txt", "html", "pdf"] {
            assert!(extensions.contains(&extension), "{files:?}");
        }
        Ok(())
    })
    .await;
}
