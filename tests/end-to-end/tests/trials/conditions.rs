//! Conditions of a page: its clock and its storage.

use crate::plan::Breakage;
use serde_json::json;

#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions {
    /// How far the clock is set back.
    pub back_ms: u64,
    pub breakage: Option<Breakage>,
}

/// Runs before the page's own scripts. Changing `Date.now` is enough, because the page reads the time only from it.
const HOOKS: &str = "
    const trial = window.trial = { back: 0, storage: 'works', late: [], submitted: 0 };
    addEventListener('submit', () => trial.submitted++, true);
    trial.set = conditions => {
        Object.assign(trial, conditions);
        if (trial.storage !== 'silent') {
            for (const open of trial.late.splice(0)) open();
        }
    };
    const now = Date.now;
    Date.now = () => now.call(Date) - trial.back;
    const open = trial.open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (...args) {
        if (trial.storage === 'refused') throw new DOMException('no', 'UnknownError');
        if (trial.storage !== 'silent') return open.apply(this, args);
        // The request is answered when storage works again.
        const request = new EventTarget();
        trial.late.push(() => {
            const real = open.apply(this, args);
            for (const name of ['result', 'error', 'transaction', 'readyState']) {
                Object.defineProperty(request, name, { get: () => real[name] });
            }
            for (const kind of ['success', 'error', 'upgradeneeded', 'blocked']) {
                real.addEventListener(kind, event => request['on' + kind]?.(event));
            }
        });
        return request;
    };
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
        if (trial.storage === 'full') throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, args);
    };";

impl Conditions {
    /// Returns the script for documents that are loaded from now on.
    pub fn first_script(self) -> String {
        format!("(() => {{ {HOOKS} {} }})()", self.script())
    }

    /// Returns the script for a loaded document.
    pub fn script(self) -> String {
        let storage = match self.breakage {
            None => "works",
            Some(Breakage::Refused) => "refused",
            Some(Breakage::Silent) => "silent",
            Some(Breakage::Full) => "full",
        };
        let conditions = json!({ "back": self.back_ms, "storage": storage });
        format!("window.trial?.set({conditions});")
    }
}

/// Returns the stored records of tasks, even while storage is broken for the page. Does not create the database.
pub const STORED_TASKS: &str = "
    return (async () => {
        const open = window.trial?.open ?? IDBFactory.prototype.open;
        const answer = request => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        const names = (await indexedDB.databases()).map(database => database.name);
        if (!names.includes('atelier')) return [];
        const database = await answer(open.call(indexedDB, 'atelier'));
        try {
            if (!database.objectStoreNames.contains('tasks')) return [];
            return await answer(database.transaction('tasks').objectStore('tasks').getAll());
        } finally {
            database.close();
        }
    })();";
