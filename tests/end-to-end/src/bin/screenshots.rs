//! `screenshots --out DIR` takes full-page screenshots at every width of [`screenshot::WIDTHS`], in light and dark
//! mode: of the start pages on a first visit, and of each page with content. `--address URL` uses the page that is
//! served there, without adding content. `--path /…` (repeatable) limits the pages.

use atelier_end_to_end::browser::{Browser, Scheme};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::{Result, screenshot, tour};
use std::path::{Path, PathBuf};

const USAGE: &str = "screenshots --out DIR [--address URL] [--path /PAGE …]";

#[tokio::main]
async fn main() -> Result<()> {
    let (mut address, mut out, mut paths) = (None, None, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        match flag.as_str() {
            "--address" => address = Some(value.trim_end_matches('/').to_owned()),
            "--out" => out = Some(PathBuf::from(value)),
            "--path" => paths.push(value),
            _ => return Err(USAGE.into()),
        }
    }
    let out = out.ok_or(USAGE)?;
    let browser = Browser::start().await?;
    let Some(address) = address else {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        for path in ["/", "/tasks"] {
            let prefix = format!("first-visit-{}", file_name(path));
            take_screenshots(&browser, &address, path, &out, &prefix).await?;
        }
        browser.set_color_scheme(Scheme::Light).await?;
        browser.set_size(1440, 900).await?;
        tour::create_content(&browser, &address).await?;
        if paths.is_empty() {
            paths = tour::pages(&browser, &address).await?;
        }
        return take_all_screenshots(&browser, &address, &paths, &out).await;
    };
    if paths.is_empty() {
        paths.push("/".to_owned());
    }
    take_all_screenshots(&browser, &address, &paths, &out).await
}

async fn take_all_screenshots(
    browser: &Browser,
    address: &str,
    paths: &[String],
    out: &Path,
) -> Result<()> {
    for path in paths {
        take_screenshots(browser, address, path, out, &file_name(path)).await?;
    }
    Ok(())
}

/// Returns the file name prefix for a page's screenshots.
fn file_name(path: &str) -> String {
    match path.trim_matches('/') {
        "" => "home".to_owned(),
        path => path.replace(['/', '?', '&', '=', '#'], "-"),
    }
}

async fn take_screenshots(
    browser: &Browser,
    address: &str,
    path: &str,
    out: &Path,
    prefix: &str,
) -> Result<()> {
    for width in screenshot::WIDTHS {
        // Opens the page at each width, because it starts with more sections collapsed on a phone.
        browser.set_size(width, screenshot::SCREEN_HEIGHT).await?;
        browser.open(&format!("{address}{path}")).await?;
        for scheme in screenshot::SCHEMES {
            let file = out.join(format!("{prefix}-{width}-{scheme:?}.png").to_lowercase());
            browser.full_page(width, scheme, &file).await?;
            println!("{}", file.display());
        }
    }
    for line in browser.console().await? {
        println!("console of {path}: {line}");
    }
    Ok(())
}
