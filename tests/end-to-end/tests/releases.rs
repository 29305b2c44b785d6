//! One release after another: what a browser has kept of the one before, or still runs of it, never
//! mixes with the next.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::release::{Change, Release, has_lasting_name};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::OnceCell;

const PATIENCE: Duration = Duration::from_secs(20);

const MODEL: &str = "/models/image/tessera";

/// A colour of the first view, and one of what comes later.
const COLOURS: [(&str, &str, &str); 2] = [
    ("tokens", "oklch(47% 0.215 268)", "oklch(47% 0.215 30)"),
    ("model", "color: var(--muted)", "color: rgb(1 2 3)"),
];

/// What the second of [`COLOURS`] is seen as.
const LATER_COLOUR: &str = "rgb(1, 2, 3)";

struct Releases {
    first: Release,
    recoloured: Release,
    /// The same source, built with other options of a tool.
    rebuilt: Release,
}

/// Made once for all tests.
async fn releases() -> Result<&'static Releases> {
    static RELEASES: OnceCell<Releases> = OnceCell::const_new();
    RELEASES
        .get_or_try_init(async || {
            let (first, recoloured, rebuilt) = tokio::try_join!(
                Release::make("first", Change::Nothing),
                Release::make("recoloured", Change::Styles(&COLOURS)),
                Release::make("rebuilt", Change::Optimised("--vacuum")),
            )?;
            Ok(Releases {
                first,
                recoloured,
                rebuilt,
            })
        })
        .await
}

/// Guards against a name that is taken before a file's last change: hosts serve names for ever.
#[tokio::test(flavor = "multi_thread")]
async fn no_name_has_two_contents() -> Result<()> {
    let all = releases().await?;
    let releases = [&all.first, &all.recoloured, &all.rebuilt];
    let mut names = std::collections::BTreeMap::new();
    let mut twice = Vec::new();
    for release in releases {
        for (name, bytes) in release.files()? {
            if has_lasting_name(&name) {
                continue;
            }
            if names.get(&name).is_some_and(|known| *known != bytes) {
                twice.push(name.clone());
            }
            names.insert(name, bytes);
        }
    }
    assert!(twice.is_empty(), "two contents each: {twice:?}");
    // So that it means something: each of them is another one.
    for release in &releases[1..] {
        assert_ne!(release.files()?, all.first.files()?);
    }
    Ok(())
}
