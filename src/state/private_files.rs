//! The files that links leave out, because only this user has them.

use atelier_studio::share::private_files::PrivateFiles;

use crate::browser::location;
use crate::runner::uploaded_files;
use crate::state::contexts::Contexts;

/// Returns what is known about the files of the user.
pub fn known(all: Contexts) -> PrivateFiles {
    let address = all.session.settings_untracked().address;
    let mut files = PrivateFiles {
        services: vec![String::new(), address.to_string(), location::origin()],
        ..PrivateFiles::default()
    };
    uploaded_files::with(|uploaded| files.uploads.extend(uploaded.keys().cloned()));
    all.runner.with_tasks(|tasks| {
        for task in tasks {
            if !files.services.contains(&task.account.address) {
                files.services.push(task.account.address.clone());
            }
            let uploads = task.uploads.iter().map(|file| file.url.clone());
            files.uploads.extend(uploads);
            files.outputs.extend(task.outputs().iter().cloned());
        }
    });
    files
}
