//! Uploads that are stored in the browser until they end, so that they continue after a reload.

use atelier_contract::{Entry, Media, ModelId, Uploaded};
use atelier_engine::Millis;
use serde::{Deserialize, Serialize};

use super::LocalFile;

/// How long an upload is stored, in milliseconds: as long as the local service keeps a file.
const MAX_AGE_MS: Millis = 7 * 24 * 3_600_000;

/// The maximum number of stored uploads, and of the bytes of their files.
const MAX_COUNT: usize = 50;
const MAX_BYTES: u64 = 1_000_000_000;

/// A media parameter of a model of a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldKey {
    pub address: String,
    pub model: ModelId,
    pub parameter: String,
    /// The item of a list of files; `None` for other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// The key of a file of a batch table; see [`FileReference`]. Such uploads are not stored.
    ///
    /// [`FileReference`]: crate::compose::table::files::FileReference
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

/// An upload as it is stored, next to the content of its file. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredUpload {
    /// The key in storage.
    pub key: String,
    /// When the file was chosen.
    pub at: Millis,
    /// The tab in which the file was chosen. It has the same name after a reload.
    pub tab: String,
    /// The User ID in Settings; empty if there was none.
    pub uid: String,
    pub field: FieldKey,
    pub media: Media,
    pub file: LocalFile,
    /// The entry of the field before the upload.
    pub before: Option<Entry>,
    pub note: String,
    /// The reply of the service, until the URL is in the field. The content of the file is deleted then.
    pub uploaded: Option<Uploaded>,
}

/// Returns the keys of the uploads to delete: the expired ones, and the oldest ones beyond [`MAX_COUNT`] and
/// [`MAX_BYTES`].
pub fn expired(uploads: &[StoredUpload], now: Millis) -> Vec<String> {
    let mut newest_first: Vec<&StoredUpload> = uploads.iter().collect();
    newest_first.sort_by_key(|upload| std::cmp::Reverse(upload.at));
    let mut bytes = 0_u64;
    let is_expired = |(position, upload): &(usize, &StoredUpload)| {
        bytes = bytes.saturating_add(upload.file.bytes);
        let is_too_much = *position >= MAX_COUNT || bytes > MAX_BYTES;
        // The clock may have been set back.
        is_too_much || now.abs_diff(upload.at) > MAX_AGE_MS
    };
    let uploads = newest_first.into_iter().enumerate();
    let expired = uploads.filter(is_expired);
    expired.map(|(_, upload)| upload.key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::json;

    const SAMPLE: &str = r#"{"key":"k","at":1700000000000,"tab":"t","uid":"me","field":{"address":"","model":{"category":"image","subcategory":"repaint"},"parameter":"image_url"},"media":"image","file":{"name":"cat.png","media_type":"image/png","bytes":3,"last_modified":5.5},"before":{"text":"https://a.example/b"},"note":"","uploaded":{"url":"https://a.example/c","media_type":"image/png","bytes":3,"size":[64,48],"expires_at":1800000000}}"#;

    fn sample() -> StoredUpload {
        let read = json::read(SAMPLE).and_then(json::decode);
        read.expect("the sample is readable")
    }

    /// Browsers store uploads, so their format must stay the same.
    #[test]
    fn stored_samples_round_trip() {
        assert_eq!(json::encode(&sample()).to_string(), SAMPLE);
        for field in ["before", "uploaded"] {
            let mut value = json::encode(&sample());
            value[field] = serde_json::Value::Null;
            let read: Option<StoredUpload> = json::decode(value.clone());
            assert_eq!(read.map(|read| json::encode(&read)), Some(value), "{field}");
        }
        let unreadable: Option<StoredUpload> = json::decode(serde_json::json!({"key": "k"}));
        assert_eq!(unreadable, None);
    }

    fn at(key: usize, at: Millis) -> StoredUpload {
        StoredUpload {
            key: key.to_string(),
            at,
            ..sample()
        }
    }

    #[test]
    fn old_uploads_and_the_oldest_of_too_many_are_deleted() {
        let now = 2 * MAX_AGE_MS;
        let uploads = [
            at(0, now - MAX_AGE_MS - 1),
            at(1, now - MAX_AGE_MS),
            at(2, now + MAX_AGE_MS + 1),
        ];
        assert_eq!(expired(&uploads, now), ["2", "0"]);
        let many: Vec<_> = (0..MAX_COUNT + 2)
            .map(|key| at(key, now - 100 + key as Millis))
            .collect();
        assert_eq!(expired(&many, now), ["1", "0"]);
        let large = [1, 2, 3].map(|key| {
            let mut upload = at(key, now - key as Millis);
            upload.file.bytes = MAX_BYTES / 2;
            upload
        });
        assert_eq!(expired(&large, now), ["3"]);
    }
}
