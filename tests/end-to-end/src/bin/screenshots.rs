//! `screenshots --out DIR`: pictures of each page, whole, as a first visit has it and with something on it, at
//! every width of [`look::WIDTHS`], in light and dark. With `--address URL` of the page that is served there, as
//! it is; with `--path /…` (as often as there are pages) of these alone.

use atelier_end_to_end::browser::{Browser, Scheme};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::{Result, look, tour};
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
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        for path in ["/", "/tasks"] {
            let name = format!("first-visit-{}", name(path));
            shoot(&browser, &address, path, &out, &name).await?;
        }
        browser.prefer(Scheme::Light).await?;
        browser.set_size(1440, 900).await?;
        tour::make(&browser, &address).await?;
        if paths.is_empty() {
            paths = tour::pages(&browser, &address).await?;
        }
        return shoot_all(&browser, &address, &paths, &out).await;
    };
    if paths.is_empty() {
        paths.push("/".to_owned());
    }
    shoot_all(&browser, &address, &paths, &out).await
}

async fn shoot_all(browser: &Browser, address: &str, paths: &[String], out: &Path) -> Result<()> {
    for path in paths {
        shoot(browser, address, path, out, &name(path)).await?;
    }
    Ok(())
}

/// The name of a page's pictures.
fn name(path: &str) -> String {
    match path.trim_matches('/') {
        "" => "home".to_owned(),
        path => path.replace(['/', '?', '&', '=', '#'], "-"),
    }
}

async fn shoot(browser: &Browser, address: &str, path: &str, out: &Path, name: &str) -> Result<()> {
    for width in look::WIDTHS {
        // As a person has it who opens it at that width: a phone begins with more folded away.
        browser.set_size(width, look::SCREEN_HEIGHT).await?;
        browser.open(&format!("{address}{path}")).await?;
        for scheme in look::SCHEMES {
            let file = out.join(format!("{name}-{width}-{scheme:?}.png").to_lowercase());
            browser.full_page(width, scheme, &file).await?;
            println!("{}", file.display());
        }
    }
    for line in browser.console().await? {
        println!("console of {path}: {line}");
    }
    Ok(())
}
