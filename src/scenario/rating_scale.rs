//! How public constants map ratings, and what is taken from those of a user.

use serde::{Deserialize, Serialize};

use crate::config::{Centre, NamedCentre};
use crate::data::{Preparation, PreparationError};

/// The public numbers by which ratings of a file become numbers of a row, and predictions become ratings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingScale {
    /// The ranges that ratings of the file are clipped to: none, one for all items, or one each.
    pub ranges: Vec<[f64; 2]>,
    /// What ranges are mapped to.
    pub scale: [f64; 2],
    /// What is taken from the ratings of a user.
    pub centre: Centre,
}

impl RatingScale {
    /// The map of single numbers, for so many items.
    ///
    /// # Errors
    /// [`PreparationError`] for ranges of another number, and ends that are not finite or not in order.
    pub fn preparation(
        &self,
        items: usize,
        row_limit: Option<f64>,
    ) -> Result<Preparation, PreparationError> {
        let ranges = self.ranges.iter().map(|[low, high]| (*low, *high));
        let [low, high] = self.scale;
        Preparation::new(ranges.collect(), (low, high), row_limit, items)
    }

    /// What is taken from the mapped ratings of a user: their mean, a public constant or nothing. The mean of a user without ratings
    /// is not known: the middle of the range takes its place.
    #[must_use]
    pub fn centre_of(&self, ratings: &[f64]) -> f64 {
        match self.centre {
            Centre::Constant(number) => number,
            Centre::Named(NamedCentre::User) if ratings.is_empty() => {
                let [low, high] = self.scale;
                low + 0.5 * (high - low)
            }
            Centre::Named(NamedCentre::User) => ratings.iter().sum::<f64>() / ratings.len() as f64,
            Centre::Named(_) => 0.0,
        }
    }

    /// A prediction within the range of ratings.
    #[must_use]
    pub fn clip(&self, prediction: f64) -> f64 {
        let [low, high] = self.scale;
        prediction.clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_mapped_centred_and_predictions_stay_in_range() {
        let scale = |centre| RatingScale {
            ranges: vec![[-10.0, 10.0]],
            scale: [0.0, 5.0],
            centre,
        };
        let user = scale(Centre::Named(NamedCentre::User));
        let map = user.preparation(3, None).expect("in order");
        assert_eq!(map.value(2, -10.0), 0.0);
        assert_eq!(map.value(0, 2.0), 3.0);
        assert_eq!(map.value(0, 99.0), 5.0);
        assert_eq!(user.centre_of(&[1.0, 4.0]), 2.5);
        assert_eq!(user.centre_of(&[]), 2.5, "the middle of the range");
        assert_eq!(user.clip(7.0), 5.0);
        assert_eq!(user.clip(-0.1), 0.0);
        assert_eq!(scale(Centre::Constant(3.0)).centre_of(&[1.0]), 3.0);
        assert_eq!(
            scale(Centre::Named(NamedCentre::None)).centre_of(&[1.0]),
            0.0
        );
        let wrong = RatingScale {
            ranges: vec![[1.0, 1.0]],
            ..user
        };
        assert!(wrong.preparation(3, None).is_err());
    }
}
