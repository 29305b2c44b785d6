//! The simulated service: its responses, and faults of the network.

use atelier_contract::{ApiError, path};
use serde_json::{Value, json};

use super::{Faults, Job, World};
use crate::TaskKey;
use crate::engine::{Call, CallKind};

impl World {
    pub(super) fn answer(&mut self, call: &Call) -> Result<Value, ApiError> {
        let batched = [
            path::GENERATE_BATCH,
            path::STATUS_BATCH,
            path::RESPONSE_BATCH,
            path::CANCEL_BATCH,
        ]
        .contains(&call.path);
        assert_eq!(batched, call.tasks.len() > 1);
        let network = || ApiError::Network { detail: "x".into() };
        let Faults {
            unreached,
            lost_answer,
            refused,
            broken,
            nonsense,
            ..
        } = self.faults;
        let chance = self.below(1_000);
        let mut limit = unreached;
        if chance < limit {
            return Err(network());
        }
        if self.revoked {
            return Err(ApiError::from_status(401, None, None));
        }
        limit += refused;
        if chance < limit {
            let wait = match self.below(4) {
                0 => None,
                n => Some(n * 3_000),
            };
            let status = if wait.is_some() && self.below(2) == 0 {
                503
            } else {
                429
            };
            return Err(ApiError::from_status(status, None, wait));
        }
        limit += broken;
        if chance < limit {
            return Err(ApiError::from_status(500, None, None));
        }
        if (batched && !self.has_batch) || (call.kind == CallKind::Cancel && !self.has_cancel) {
            return Err(ApiError::from_status(404, None, None));
        }
        let body = if batched {
            let requests = call.body["requests"].as_array().unwrap().clone();
            self.batch_reply(call.kind, &requests)
        } else {
            let key = call.idempotency_key.as_deref();
            let (status, body) = self.one(call.kind, &call.body, key);
            if status != 200 {
                return Err(ApiError::from_status(status, Some(&body), None));
            }
            body
        };
        limit += lost_answer;
        if chance < limit {
            return Err(network());
        }
        limit += nonsense;
        if chance < limit {
            return Ok(json!({"surprise": true}));
        }
        Ok(body)
    }

    fn batch_reply(&mut self, kind: CallKind, requests: &[Value]) -> Value {
        let mut results = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            let key = request["idempotency_key"].as_str();
            let (status, body) = self.one(kind, request, key);
            let entry = json!({"index": index, "status": status, "body": body});
            let chance = self.below(1_000);
            if chance >= self.faults.bad_entry {
                results.push(entry);
                continue;
            }
            match self.below(4) {
                0 => {} // The entry is missing.
                1 => results.extend([entry.clone(), entry]),
                2 => {
                    results.push(json!({"index": index, "status": 500, "body": {"success": false}}))
                }
                _ => {
                    // The entry has no id, or the id of another task.
                    let id = match kind {
                        CallKind::Generate => Value::Null,
                        CallKind::Status | CallKind::Response | CallKind::Cancel => "other".into(),
                    };
                    let mut data = json!({"id": id});
                    if kind == CallKind::Status {
                        data["status"] = "failed".into();
                    }
                    let body = json!({"success": true, "data": data});
                    results.push(json!({"index": index, "status": 200, "body": body}));
                }
            }
        }
        for at in (1..results.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            results.swap(at, other);
        }
        json!({"success": true, "data": {"results": results}})
    }

    /// Returns the status and body of a response of a single endpoint.
    pub(super) fn one(
        &mut self,
        kind: CallKind,
        request: &Value,
        key: Option<&str>,
    ) -> (u16, Value) {
        assert_eq!(request["uid"], "me");
        if kind == CallKind::Generate {
            assert_eq!(request["seed"], u64::MAX);
            let mut request = request.clone();
            request.as_object_mut().unwrap().remove("idempotency_key");
            assert!(
                key.is_none() || self.key_lifetime.is_some(),
                "an unsupported key"
            );
            // A key belongs to the token that it was sent with.
            let key = key.map(|key| format!("{} {key}", self.token));
            if let (Some(key), Some(ttl)) = (&key, self.key_lifetime)
                && let Some((_, known, at)) = self.keys.get(key)
                && self.time < at + ttl
            {
                assert_eq!(*known, request, "a different request with the same key");
                // As in the draft standard, a request during the first one's processing gets a 409.
                if self.below(10) == 0 {
                    return (409, json!({"success": false, "message": "in use"}));
                }
                let (id, ..) = &self.keys[key];
                let data = json!({"id": id, "status": "starting"});
                return (200, json!({"success": true, "data": data}));
            }
            let honoured = key;
            let key = TaskKey(request["prompt"].as_str().unwrap().into());
            self.next_id += 1;
            let id = format!("id-{}", self.next_id);
            let (least, most) = self.work;
            let done_at = self.time + least + self.below(most - least + 1);
            let fails = self.below(10) == 0;
            let can_be_canceled = self.below(4) > 0;
            self.jobs.insert(
                id.clone(),
                Job {
                    key: key.clone(),
                    done_at,
                    fails,
                    can_be_canceled,
                    canceled: None,
                },
            );
            if let Some(honoured) = honoured {
                self.keys.insert(honoured, (id.clone(), request, self.time));
            }
            let paid = self.jobs.values().filter(|job| job.key == key).count();
            let allowed = 1 + self.resubmits.get(&key).copied().unwrap_or_default();
            assert!(paid <= allowed, "paid twice: {key}");
            return (
                200,
                json!({"success": true, "data": {"id": id, "status": "starting"}}),
            );
        }
        let id = request["id"].as_str().unwrap();
        let now = self.time;
        let Some(job) = self.jobs.get_mut(id) else {
            return (404, json!({"success": false, "message": "no such task"}));
        };
        if kind == CallKind::Cancel && now < job.done_at && job.can_be_canceled {
            job.canceled.get_or_insert(now);
        }
        if job.canceled.is_some() {
            let data = json!({"id": id, "status": "failed", "error": "Canceled", "canceled": true});
            return (200, json!({"success": true, "data": data}));
        }
        let word = match (now >= job.done_at, job.fails) {
            (false, _) => "processing",
            (true, false) => "completed",
            (true, true) => "failed",
        };
        let mut data = json!({"id": id, "status": word});
        if word == "failed" {
            data["error"] = json!({"message": "did not work"});
        } else if kind == CallKind::Response && word == "completed" {
            data["output"] = json!([format!("https://out.example/{id}.png")]);
        }
        if kind == CallKind::Cancel {
            data["canceled"] = false.into();
        }
        (200, json!({"success": true, "data": data}))
    }
}
