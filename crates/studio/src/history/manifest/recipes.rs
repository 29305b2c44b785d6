//! Exports how selected outputs were generated: a manifest for each model, which the model's batch table can import.

use std::collections::HashSet;

use atelier_engine::{Task, TaskKey};

use crate::output::file_name;

use super::{Manifest, ManifestItem, ManifestOutput};

/// The beginning of the files' names.
const NAME: &str = "recipes";

/// The manifests of selected outputs.
#[derive(Debug, Default)]
pub struct Recipes {
    manifests: Vec<Manifest>,
    /// For each manifest, the tasks of its items.
    tasks: Vec<Vec<TaskKey>>,
}

impl Recipes {
    /// Adds an output. Outputs of the same task share an item.
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

    /// Returns the files with their names: `recipes.json`, or one per model. The names are numbered if two services
    /// have a model of the same name.
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
                    // Some file systems are case-insensitive.
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

    /// The files must have different names, because otherwise one would overwrite the other when the archive is
    /// unpacked.
    #[test]
    fn models_with_the_same_name_at_two_services_have_different_files() {
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
    fn each_model_has_a_manifest_that_can_be_imported() {
        let (first, mut second) = (task("a", 1_000), task("b", 2_000));
        second.model = ModelId::new("video", "drift");
        let fetched =
            |file: &str| ManifestOutput::fetched("https://a.example/1.png", file.to_owned());
        let mut recipes = Recipes::default();
        recipes.add(&first, fetched("1.png"));
        recipes.add(
            &first,
            ManifestOutput::missing("https://a.example/2.png", "It is gone.".into()),
        );
        assert_eq!(recipes.files()[0].0, "recipes.json");
        recipes.add(&second, fetched("3.mp4"));
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
