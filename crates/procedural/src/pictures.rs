//! Images, and the variations of one task.

use crate::draw::canvas::Canvas;
use crate::draw::grain::Grain;
use crate::draw::rng::Rng;
use crate::{Error, File, Job};

/// An image before it is encoded.
pub struct Picture {
    pub canvas: Canvas,
    /// The strength of the grain, in byte steps.
    pub grain: f32,
}

/// Makes `num_outputs` images, each with its own stream of random numbers.
///
/// # Errors
///
/// [`Error::Stopped`] if the caller stops the run, [`Error::Failed`] if an image can't be encoded.
pub fn variations(
    job: &Job<'_>,
    paint: impl Fn(&Job<'_>, &mut Rng) -> Picture,
) -> Result<Vec<File>, Error> {
    let count = job.input.integer("num_outputs").max(1);
    (job.progress)(0.1)?;
    (0..count)
        .map(|n| {
            let mut rng = job.rng(n);
            let picture = paint(job, &mut rng);
            let file = picture.file(&mut rng)?;
            (job.progress)(0.1 + 0.9 * (n + 1) as f64 / count as f64)?;
            Ok(file)
        })
        .collect()
}

impl Picture {
    fn file(&self, rng: &mut Rng) -> Result<File, Error> {
        let bytes = self
            .canvas
            .png(&Grain::new(rng, self.grain))
            .map_err(|error| Error::Failed(format!("The image could not be encoded: {error}.")))?;
        Ok(File {
            extension: "png",
            bytes,
        })
    }
}
