//! Models files for the local service, with the program that their models run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::Result;

/// Models whose parameters have space for pictures inside the request: one picture, and a list of them. The list of models
/// folds the built-in ones next to them, so one has the name of the one that tests wait for at the start.
pub const PICTURES: &str = r#"
[[model]]
category = "image"
subcategory = "frame"
name = "Tessera"
description = "Frames a picture."
makes = "image"
command = { program = "./draw.sh" }
parameter = [{ name = "image_url", type = "string", required = true }]

[[model]]
category = "image"
subcategory = "collage"
name = "Collage"
description = "Puts pictures together."
makes = "image"
command = { program = "./draw.sh" }
parameter = [{ name = "images", type = "files", required = true }]
"#;

/// A models file in a folder of its own, with a program `draw.sh` next to it. Removed when dropped.
pub struct ModelsFile {
    folder: TempDir,
    path: String,
}

impl ModelsFile {
    /// Writes the models, and a program that does nothing.
    ///
    /// # Errors
    ///
    /// The files can't be written.
    pub fn new(models: &str) -> Result<Self> {
        Self::with_program(models, "#!/bin/sh\n")
    }

    /// Writes the models and the program.
    ///
    /// # Errors
    ///
    /// The files can't be written.
    pub fn with_program(models: &str, program: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("models.toml");
        fs::write(&path, models)?;
        let path = path.to_str().ok_or("the path is not text")?.to_owned();
        let this = Self { folder, path };
        this.write_program(program)?;
        Ok(this)
    }

    /// Returns the path of the models file, for the option `--models`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the folder of the files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the program.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn write_program(&self, program: &str) -> Result<()> {
        // Writes to a temporary file and renames it: a program that is open for writing can't be started.
        let (temporary, path) = ["draw.tmp", "draw.sh"]
            .map(|name| self.folder().join(name))
            .into();
        fs::write(&temporary, program)?;
        fs::set_permissions(&temporary, fs::Permissions::from_mode(0o755))?;
        fs::rename(temporary, path)?;
        Ok(())
    }
}
