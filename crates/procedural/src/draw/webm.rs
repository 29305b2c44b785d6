//! Short silent videos: VP8 key frames in a WebM file.
//!
//! Every browser plays them, VP8 is royalty-free, and no native encoder is needed, because a lossy WebP image contains
//! a VP8 key frame. All frames are key frames, so seeking is exact.

use image_webp::{ColorType, EncoderParams, WebPEncoder};

/// The size of the padding at the start of a file, in bytes: space for an index that refers to tags at the end.
const INDEX_BYTES: usize = 26;

/// A video that is being encoded.
#[derive(Debug)]
pub struct Film {
    width: u16,
    height: u16,
    frames_per_second: u32,
    quality: u8,
    frames: Vec<Vec<u8>>,
}

impl Film {
    /// Creates an empty video. `quality` is 0 to 100. Width and height must be even, because chroma is subsampled.
    pub fn new(width: u16, height: u16, frames_per_second: u32, quality: u8) -> Self {
        Self {
            width,
            height,
            frames_per_second: frames_per_second.max(1),
            quality,
            frames: Vec::new(),
        }
    }

    /// Appends a frame of RGB bytes, row by row.
    ///
    /// # Errors
    ///
    /// A message if the encoder refuses the frame, or its output contains no VP8 data.
    pub fn push(&mut self, rgb: &[u8]) -> Result<(), String> {
        let mut image = Vec::new();
        let mut encoder = WebPEncoder::new(&mut image);
        let mut params = EncoderParams::default();
        params.use_lossy = true;
        params.lossy_quality = self.quality;
        encoder.set_params(params);
        encoder
            .encode(rgb, self.width.into(), self.height.into(), ColorType::Rgb8)
            .map_err(|error| error.to_string())?;
        let frame = vp8_frame(&image).ok_or("the encoder gave no VP8 frame")?;
        self.frames.push(frame.to_vec());
        Ok(())
    }

    /// Returns the file.
    pub fn finish(&self) -> Vec<u8> {
        let (info, tracks) = (self.info(), self.tracks());
        let clusters = self.clusters();
        // The cues precede the clusters and contain their positions, so the size of the cues must be known first.
        // Fixed-width numbers make it independent of the positions.
        let length = cues(&clusters, &vec![0; clusters.len()]).len();
        let padding = element(0xEC, &[vec![0; INDEX_BYTES - 9]]);
        let mut position = (padding.len() + info.len() + tracks.len() + length) as u64;
        let mut positions = Vec::new();
        for cluster in &clusters {
            positions.push(position);
            position += cluster.element.len() as u64;
        }
        let mut segment = vec![padding, info, tracks, cues(&clusters, &positions)];
        segment.extend(clusters.into_iter().map(|cluster| cluster.element));

        let mut file = header();
        file.extend(element(0x1853_8067, &segment));
        file
    }

    /// Returns the time at which a frame is shown, in milliseconds.
    fn time(&self, frame: usize) -> u64 {
        frame as u64 * 1000 / u64::from(self.frames_per_second)
    }

    /// Returns the element with the duration and the name of the encoder.
    fn info(&self) -> Vec<u8> {
        let length = self.time(self.frames.len()) as f64;
        element(
            0x1549_A966,
            &[
                element(0x2A_D7B1, &[uint(1_000_000)]), // Times are in milliseconds.
                element(0x4489, &[length.to_be_bytes().to_vec()]),
                element(0x4D80, &[b"atelier".to_vec()]),
                element(0x5741, &[b"atelier".to_vec()]),
            ],
        )
    }

    /// Returns the element that describes the only track.
    fn tracks(&self) -> Vec<u8> {
        let video = element(
            0xE0,
            &[
                element(0xB0, &[uint(self.width.into())]),
                element(0xBA, &[uint(self.height.into())]),
            ],
        );
        let frame_ns = 1_000_000_000 / u64::from(self.frames_per_second);
        element(
            0x1654_AE6B,
            &[element(
                0xAE,
                &[
                    element(0xD7, &[uint(1)]),
                    element(0x73C5, &[uint(1)]),
                    element(0x83, &[uint(1)]),
                    element(0x9C, &[uint(0)]),
                    element(0x86, &[b"V_VP8".to_vec()]),
                    element(0x23_E383, &[uint(frame_ns)]),
                    video,
                ],
            )],
        )
    }

    /// Returns one cluster per second, each with a cue, so that players can seek without reading the whole file.
    fn clusters(&self) -> Vec<Cluster> {
        let second = self.frames_per_second as usize;
        let seconds = self.frames.chunks(second).enumerate();
        seconds
            .map(|(i, frames)| {
                let start = self.time(i * second);
                let mut parts = vec![element(0xE7, &[uint(start)])];
                for (j, frame) in frames.iter().enumerate() {
                    let offset = (self.time(i * second + j) - start) as i16;
                    parts.push(block(offset, frame));
                }
                Cluster {
                    start,
                    element: element(0x1F43_B675, &parts),
                }
            })
            .collect()
    }
}

/// The frames of one second.
struct Cluster {
    /// When the first frame is shown, in milliseconds.
    start: u64,
    element: Vec<u8>,
}

/// Returns a frame, `offset` milliseconds after the start of its cluster.
fn block(offset: i16, frame: &[u8]) -> Vec<u8> {
    let mut block = vec![0x81];
    block.extend(offset.to_be_bytes());
    block.push(0x80); // A key frame.
    block.extend(frame);
    element(0xA3, &[block])
}

/// Returns the element with the position of each cluster in the segment.
fn cues(clusters: &[Cluster], positions: &[u64]) -> Vec<u8> {
    let points: Vec<Vec<u8>> = clusters
        .iter()
        .zip(positions)
        .map(|(cluster, position)| {
            let place = element(
                0xB7,
                &[
                    element(0xF7, &[uint(1)]),
                    element(0xF1, &[position.to_be_bytes().to_vec()]),
                ],
            );
            element(0xBB, &[element(0xB3, &[uint(cluster.start)]), place])
        })
        .collect();
    element(0x1C53_BB6B, &points)
}

/// Returns the EBML header.
fn header() -> Vec<u8> {
    element(
        0x1A45_DFA3,
        &[
            element(0x4286, &[uint(1)]),
            element(0x42F7, &[uint(1)]),
            element(0x42F2, &[uint(4)]),
            element(0x42F3, &[uint(8)]),
            element(0x4282, &[b"webm".to_vec()]),
            element(0x4287, &[uint(2)]),
            element(0x4285, &[uint(2)]),
        ],
    )
}

/// Returns the VP8 data in a WebP file.
fn vp8_frame(webp: &[u8]) -> Option<&[u8]> {
    let mut chunks = webp.get(12..)?;
    loop {
        let size = u32::from_le_bytes(chunks.get(4..8)?.try_into().ok()?) as usize;
        let data = chunks.get(8..8 + size)?;
        if chunks.starts_with(b"VP8 ") {
            return Some(data);
        }
        chunks = chunks.get(8 + size + size % 2..)?;
    }
}

/// Returns an EBML element: id, length, contents.
fn element(id: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    let id = id.to_be_bytes();
    let first = id.iter().position(|byte| *byte != 0).unwrap_or(3);
    let mut bytes = id[first..].to_vec();
    let length: usize = parts.iter().map(Vec::len).sum();
    // The length always takes eight bytes, for simplicity.
    bytes.extend((length as u64 | 1 << 56).to_be_bytes());
    bytes.extend(parts.iter().flatten());
    bytes
}

/// Encodes a number in the fewest bytes.
fn uint(n: u64) -> Vec<u8> {
    let bytes = n.to_be_bytes();
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(7);
    bytes[first..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_point_at_clusters() {
        let mut film = Film::new(16, 16, 2, 80);
        for shade in 0..5u8 {
            film.push(&[shade * 50; 16 * 16 * 3]).unwrap();
        }
        let file = film.finish();
        assert!(file.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]));
        let segment = find(&file, &[0x18, 0x53, 0x80, 0x67], 0).unwrap() + 12;
        let mut clusters = 0;
        let mut cue = 0;
        while let Some(at) = find(&file, &[0xF1, 1, 0, 0, 0, 0, 0, 0, 8], cue) {
            let position = u64::from_be_bytes(file[at + 9..at + 17].try_into().unwrap()) as usize;
            assert_eq!(file[segment + position..][..4], [0x1F, 0x43, 0xB6, 0x75]);
            clusters += 1;
            cue = at + 1;
        }
        assert_eq!(clusters, 3);
    }

    fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
        (from..bytes.len() - what.len()).find(|i| bytes[*i..].starts_with(what))
    }
}
