//! `screenshots --address URL --out DIR --path /…` (the last as often as there are pages): pictures
//! of each page, whole, at every width of [`look::WIDTHS`], in light and dark.

use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::{Result, look};
use std::path::PathBuf;

const USAGE: &str = "screenshots --address URL --out DIR --path /PAGE [--path /PAGE …]";

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
    let (Some(address), Some(out)) = (address, out) else {
        return Err(USAGE.into());
    };
    if paths.is_empty() {
        paths.push("/".to_owned());
    }

    let browser = Browser::start().await?;
    for path in &paths {
        browser.open(&format!("{address}{path}")).await?;
        let page = match path
            .trim_matches('/')
            .replace(['/', '?', '&', '=', '#'], "-")
        {
            empty if empty.is_empty() => "home".to_owned(),
            name => name,
        };
        for width in look::WIDTHS {
            for scheme in look::SCHEMES {
                let name = format!("{page}-{width}-{scheme:?}.png").to_lowercase();
                let file = out.join(name);
                browser.full_page(width, scheme, &file).await?;
                println!("{}", file.display());
            }
        }
        for line in browser.console().await? {
            println!("console of {path}: {line}");
        }
    }
    Ok(())
}
