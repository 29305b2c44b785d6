//! How outputs that were chosen one by one were made: a manifest for each model, which its batch table takes in.

use std::collections::HashSet;

use atelier_engine::{Task, TaskKey};

use crate::output::file_name;

use super::{Manifest, ManifestItem, ManifestOutput};

/// The name of the file.
const NAME: &str = "recipes";

#[derive(Debug, Default)]
pub struct Recipes {
    manifests: Vec<Manifest>,
    /// Of each item of each manifest its task.
    tasks: Vec<Vec<TaskKey>>,
}

impl Recipes {
    /// Outputs of one task are in one item.
    pub fn add(&mut self, task: &Task, output: ManifestOutput) {
        let known = self.manifests.iter().position(|known| {
            (&known.model, &known.service) == (&task.model, &task.account.address)
        });
        let at = known.unwrap_or_else(|| {
            let (name, address) = (task.model_name.clone(), task.account.address.clone());
            let manifest = Manifest::new(name, task.model.clone(), address, None);
            self.manifests.push(manifest);
            self.tasks.push(Vec::new());
            self.manifests.len() - 1
        });
        let (manifest, tasks) = (&mut self.manifests[at], &mut self.tasks[at]);
        let known = tasks.iter().position(|known| *known == task.key);
        let item = known.unwrap_or_else(|| {
            let item = ManifestItem::new(manifest.items.len(), Some(task));
            manifest.items.push(item);
            tasks.push(task.key.clone());
            tasks.len() - 1
        });
        manifest.items[item].outputs.push(output);
    }

    /// Each with the name of its file: `recipes.json`, or one for each of several models. Two services may have a model
    /// of one name: a number makes theirs two files.
    pub fn files(&self) -> Vec<(String, String)> {
        let is_alone = self.manifests.len() == 1;
        let mut taken = HashSet::new();
        let named = self.manifests.iter().map(|manifest| {
            let name = match is_alone {
                true => format!("{NAME}.json"),
                false => {
                    let name = |name: &str| file_name::of_model(name, &manifest.model, "json");
                    let further = (2..).map(|n| name(&format!("{NAME}-{n}")));
                    let mut names = std::iter::once(name(NAME)).chain(further);
                    // Some file systems do not tell upper case from lower case.
                    let free = names.find(|name| taken.insert(name.to_lowercase()));
                    free.unwrap_or_default()
                }
            };
            (name, manifest.to_json())
        });
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;
    use atelier_contract::ModelId;

    /// Guards against a recipe that another service's overwrites where the archive is unpacked.
    #[test]
    fn models_of_one_name_at_two_services_have_files_of_two_names() {
        let (first, mut second) = (task("a", 1_000), task("b", 2_000));
        second.account.address = "https://b.example".into();
        let mut third = task("c", 3_000);
        third.account.address = "https://c.example".into();
        let mut recipes = Recipes::default();
        for task in [&first, &second, &third] {
            recipes.add(task, ManifestOutput::missing("", String::new()));
        }
        let names: HashSet<String> = recipes.files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }

    #[test]
    fn each_model_has_a_manifest_that_can_be_taken_in() {
        let (first, mut second) = (task("a", 1_000), task("b", 2_000));
        second.model = ModelId::new("video", "drift");
        let kept = |file: &str| ManifestOutput::kept("https://a.example/1.png", file.to_owned());
        let mut recipes = Recipes::default();
        recipes.add(&first, kept("1.png"));
        recipes.add(
            &first,
            ManifestOutput::missing("https://a.example/2.png", "It is gone.".into()),
        );
        assert_eq!(recipes.files()[0].0, "recipes.json");
        recipes.add(&second, kept("3.mp4"));
        let files = recipes.files();
        assert_eq!(files.len(), 2);
        assert_eq!(files[1].0, "recipes_video-drift.json");
        let read = Manifest::read(&files[0].1).unwrap();
        assert_eq!(read.model, first.model);
        assert_eq!(read.items.len(), 1);
        assert_eq!(read.items[0].input, *first.input.values());
        let outputs = &read.items[0].outputs;
        assert_eq!(outputs[0].file.as_deref(), Some("1.png"));
        assert_eq!(outputs[1].missing.as_deref(), Some("It is gone."));
    }
}
