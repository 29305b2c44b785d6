//! Tests of exporting the history as a file and importing it in another browser.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::site;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Repacks an archive as other programs do: `repack.py ARCHIVE TARGET HOW`.
const REPACK: &str = r#"
import io, os, shutil, subprocess, sys, tempfile, zipfile

source, target, how = sys.argv[1:]
files = [(name, zipfile.ZipFile(source).read(name)) for name in zipfile.ZipFile(source).namelist()]

class Stream(io.RawIOBase):
    # Not seekable: zipfile then writes the sizes after the data.
    def __init__(self, file): self.file = file
    def writable(self): return True
    def write(self, data): return self.file.write(data)

if how == "folder":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("__MACOSX/My history/._history.json", b"\0\5\26\7")
        packed.writestr("My history/.DS_Store", b"\0\0\0\1Bud1")
        for name, data in reversed(files):
            packed.writestr("My history/" + name, data)
elif how == "streamed":
    with open(target, "wb") as file, zipfile.ZipFile(Stream(file), "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            packed.writestr(name, data)
elif how == "zip64":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            with packed.open(name, "w", force_zip64=True) as entry:
                entry.write(data)
elif how == "zip":
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(source).extractall(os.path.join(folder, "unpacked"))
        subprocess.run(["zip", "-qr", "packed.zip", "unpacked"], cwd=folder, check=True)
        shutil.move(os.path.join(folder, "packed.zip"), target)
elif how == "lzma":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as packed:
        for name, data in files:
            packed.writestr(name, data)
elif how == "bomb":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, data in files:
            packed.writestr(name, data)
        with packed.open("outputs/zeros.png", "w") as entry:
            for _ in range(1300):
                entry.write(bytes(1 << 20))
elif how == "liar":
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files:
            packed.writestr(name, data)
    data = bytearray(open(target, "rb").read())
    at = data.index(b"PK\1\2")
    while data[at + 46:at + 58] != b"history.json":
        at = data.index(b"PK\1\2", at + 1)
    data[at + 24:at + 28] = (10).to_bytes(4, "little")
    open(target, "wb").write(data)
"#;

/// The time limit for a generation on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PROMPT: &str = "harbour at dusk";

async fn open(browser: &Browser, proxy: &FaultProxy, path: &str) -> Result<()> {
    browser.open(&format!("{}{path}", proxy.address())).await
}

async fn import(browser: &Browser, file: &Path) -> Result<()> {
    let input = starting("button", "Import history");
    browser.choose_file(&input, file).await
}

/// Generates a task with a saved output, and exports the history with it.
async fn export(browser: &Browser, proxy: &FaultProxy) -> Result<PathBuf> {
    open(browser, proxy, "/settings").await?;
    browser.press(&by("checkbox", "Keep outputs")).await?;
    browser.press(&by("button", "Save")).await?;
    browser.wait_for_text("Saved.", TIMEOUT).await?;
    open(browser, proxy, "/models/image/tessera").await?;
    browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    open(browser, proxy, "/settings").await?;
    browser.wait_for_text("1 output, ", TIMEOUT).await?;
    browser.press(&by("checkbox", "With kept outputs")).await?;
    browser.press(&by("button", "Export history")).await?;
    Ok(browser.wait_for_downloads(1, ".zip").await?.remove(0))
}

/// Clears all data of the page, which can't tell this from another browser.
async fn clear_browser(browser: &Browser, proxy: &FaultProxy) -> Result<()> {
    // Leaves the page first: an open page would store its tasks again.
    open(browser, proxy, "/healthz").await?;
    proxy.clear_site(browser).await?;
    proxy.clear_cache(browser).await
}

fn repack(file: &Path, how: &str) -> Result<PathBuf> {
    let target = file.with_file_name(format!("{how}.zip"));
    let python = std::env::var("ATELIER_PYTHON").unwrap_or_else(|_| "python3".into());
    let done = Command::new(python)
        .args(["-c", REPACK])
        .arg(file)
        .arg(&target)
        .arg(how)
        .status()?;
    match done.success() {
        true => Ok(target),
        false => Err(format!("repacking failed: {how}").into()),
    }
}

/// Guards against an export that can't be imported after another program has repacked it, and against an archive that
/// fills the disk.
#[tokio::test(flavor = "multi_thread")]
async fn repacked_history_archive_is_imported() {
    let name = "repacked_history_archive_is_imported";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let file = export(browser, &proxy).await?;
        for how in ["folder", "streamed", "zip64", "zip"] {
            clear_browser(browser, &proxy).await?;
            open(browser, &proxy, "/settings").await?;
            import(browser, &repack(&file, how)?).await?;
            let notice = "1 task imported. 1 output is kept.";
            let seen = browser.wait_for_text(notice, TIMEOUT).await;
            seen.map_err(|error| format!("{how}: {error}"))?;
        }
        clear_browser(browser, &proxy).await?;
        open(browser, &proxy, "/settings").await?;
        for (how, message) in [
            ("lzma", "packed with method 14"),
            ("bomb", "far more than a history does"),
            ("liar", "history.json is damaged."),
        ] {
            import(browser, &repack(&file, how)?).await?;
            let seen = browser.wait_for_text(message, TIMEOUT).await;
            seen.map_err(|error| format!("{how}: {error}"))?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a history that can't be moved to another browser, against duplicates after a second import, and
/// against paid calls during the import.
#[tokio::test(flavor = "multi_thread")]
async fn history_is_imported_once_in_another_browser() {
    let name = "history_is_imported_once_in_another_browser";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let file = export(browser, &proxy).await?;
        // The service's files are no longer available.
        clear_browser(browser, &proxy).await?;
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        proxy.add(Rule::every("/outputs/*", gone));
        let sent = proxy.calls_to("/v2/generate").len();
        open(browser, &proxy, "/settings").await?;
        import(browser, &file).await?;
        let notice = "1 task imported. 1 output is kept.";
        browser.wait_for_text(notice, TIMEOUT).await?;
        import(browser, &file).await?;
        let notice = "Nothing new: 1 task is there already.";
        browser.wait_for_text(notice, TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        // `press` fails unless there is exactly one.
        browser.press(&containing("link", PROMPT)).await?;
        browser.find(&containing("article", PROMPT)).await?;
        let copy = "
            return [...document.querySelectorAll('article img')]
                .some(it => it.naturalWidth > 0 && it.currentSrc.startsWith('blob:'))";
        wait_for_value(browser, "the copy", copy, true).await?;
        // Importing restores a task that was just removed.
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.press(&by("link", "Settings")).await?;
        import(browser, &file).await?;
        browser.wait_for_text("1 task imported.", TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", PROMPT)).await?;
        assert_eq!(proxy.calls_to("/v2/generate").len(), sent);

        // A truncated file is rejected.
        let bytes = std::fs::read(&file)?;
        let half = file.with_file_name("half.zip");
        std::fs::write(&half, &bytes[..bytes.len() / 2])?;
        browser.press(&by("link", "Settings")).await?;
        import(browser, &half).await?;
        browser
            .wait_for_text("This file is damaged or isn't a ZIP.", TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}

/// Guards against "Nothing new" when the second import of a file makes the page follow its tasks.
#[tokio::test(flavor = "multi_thread")]
async fn import_as_mine_reports_followed_tasks() {
    let name = "import_as_mine_reports_followed_tasks";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&["--speed", "60"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        open(browser, &proxy, "/models/image/tessera").await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Processing", TIMEOUT).await?;
        open(browser, &proxy, "/settings").await?;
        browser.press(&by("button", "Export history")).await?;
        let file = browser.wait_for_downloads(1, ".zip").await?.remove(0);
        clear_browser(browser, &proxy).await?;
        open(browser, &proxy, "/settings").await?;
        import(browser, &file).await?;
        browser.wait_for_text("not followed", TIMEOUT).await?;
        browser
            .press(&by("checkbox", "Imported tasks are mine"))
            .await?;
        import(browser, &file).await?;
        browser
            .wait_for_text("1 task is yours, and followed from now on.", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against pictures of the user that an import loses, because the service deletes uploads.
#[tokio::test(flavor = "multi_thread")]
async fn uploaded_files_travel_with_the_history() {
    let name = "uploaded_files_travel_with_the_history";
    drive(name, async |browser| {
        browser.needs(Capability::StoredFiles)?;
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        open(browser, &proxy, "/settings").await?;
        browser.press(&by("checkbox", "Keep outputs")).await?;
        browser.press(&by("button", "Save")).await?;
        browser.wait_for_text("Saved.", TIMEOUT).await?;
        open(browser, &proxy, "/models/image/repaint").await?;
        let picture = site::repository()
            .join("public/icon-192.png")
            .canonicalize()?;
        browser
            .choose_file(&by("button", "Choose file"), &picture)
            .await?;
        browser
            .wait_for_text("icon-192.png, 192 × 192 px", TIMEOUT)
            .await?;
        browser.fill(&starting("textbox", "prompt"), PROMPT).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        open(browser, &proxy, "/settings").await?;
        browser
            .wait_for_text("1 output and 1 uploaded file, ", TIMEOUT)
            .await?;
        browser.press(&by("checkbox", "With kept outputs")).await?;
        browser.press(&by("button", "Export history")).await?;
        let file = browser.wait_for_downloads(1, ".zip").await?.remove(0);

        clear_browser(browser, &proxy).await?;
        let gone = Fault::Status {
            status: 404,
            retry_after: None,
        };
        proxy.add(Rule::every("/outputs/*", gone));
        open(browser, &proxy, "/settings").await?;
        import(browser, &file).await?;
        browser
            .wait_for_text("1 output is kept. 1 uploaded file is kept.", TIMEOUT)
            .await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&containing("link", PROMPT)).await?;
        let from = browser.find(&by("list", "Made from")).await?;
        browser
            .find(&starting("link", "icon-192.png").within(&from))
            .await?;
        let copy = "
            const picture = document.querySelector('.lineage img');
            return (picture?.naturalWidth ?? 0) > 0 && picture.currentSrc.startsWith('blob:')";
        wait_for_value(browser, "the copy of the picture", copy, true).await
    })
    .await;
}
