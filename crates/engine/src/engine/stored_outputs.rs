//! Handles outputs whose data is stored as files; see [`crate::stored_output`].

use crate::stored_output::{self, Data};
use crate::{Engine, TaskKey, TaskState};

impl Engine {
    /// Replaces data that was stored as files with references to the files. Outputs that have changed meanwhile are not
    /// replaced.
    pub fn replace_stored_data(&mut self, key: &TaskKey, stored: &[Data]) {
        let Some(tracked) = self.tasks.get_mut(key) else {
            return;
        };
        let TaskState::Ready { outputs, .. } = &mut tracked.task.state else {
            return;
        };
        let mut has_changed = false;
        for url in outputs {
            if let Some(data) = stored.iter().find(|data| data.url == *url) {
                url.clone_from(&data.reference);
                has_changed = true;
            }
        }
        if has_changed {
            self.save(key);
        }
    }

    /// Returns the keys of the stored files that tasks other than `without` refer to.
    pub fn files_in_use(&self, without: Option<&TaskKey>) -> Vec<String> {
        let tasks = self.tasks().filter(|task| Some(&task.key) != without);
        let outputs = tasks.flat_map(|task| task.outputs());
        outputs.filter_map(|url| stored_output::key(url)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::tests::harness::{Harness, progress};

    fn is_ready(outputs: &[&str]) -> Harness {
        let mut harness = Harness::new();
        let call = harness.running();
        harness.answer(&call, progress("completed"));
        let call = harness.next_call();
        let output = json!({"status": "completed", "output": outputs});
        harness.answer(&call, Ok(json!({"success": true, "data": output})));
        harness.calls();
        harness.saved.clear();
        harness
    }

    /// The data must not return to the record, and a new URL must not be replaced.
    #[test]
    fn stored_data_is_replaced_by_references() {
        let data = format!("data:image/png;base64,{}", "A".repeat(5_000));
        let reference = stored_output::reference(&data).unwrap();
        let link = "https://x.example/a.png";
        let mut harness = is_ready(&[link, &data]);
        let (key, other) = (TaskKey("a".into()), TaskKey("b".into()));
        assert!(harness.engine.files_in_use(None).is_empty());
        let stored = [Data::of(&data).unwrap()];
        harness.engine.replace_stored_data(&other, &stored);
        harness.engine.replace_stored_data(&key, &stored);
        harness.calls();
        assert_eq!(harness.saved.len(), 1);
        assert_eq!(harness.saved[0].outputs(), [link, &reference]);
        assert_eq!(harness.saved[0].refreshed, None);
        let file = [stored_output::key(&reference).unwrap()];
        assert_eq!(harness.engine.files_in_use(None), file);
        assert_eq!(harness.engine.files_in_use(Some(&other)), file);
        assert!(harness.engine.files_in_use(Some(&key)).is_empty());
        // A second call has no effect.
        harness.engine.replace_stored_data(&key, &stored);
        harness.calls();
        assert_eq!(harness.saved.len(), 1);
    }
}
