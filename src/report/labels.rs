//! Places the labels of points so that they cover neither each other nor the markers.

use super::series::{Point, Series};

/// Half the width of a character, in pixels.
const HALF_CHARACTER: i32 = 4;
/// Half the height of a line.
const HALF_LINE: i32 = 6;
/// Half the size of a marker.
const MARKER: i32 = 5;

/// A rectangle: centre, and half of its width and height.
#[derive(Clone, Copy, Debug)]
struct Area {
    centre: (i32, i32),
    half: (i32, i32),
}

impl Area {
    /// How many pixels two areas share in their smaller direction; 0 if they are apart.
    fn overlap(self, other: Self) -> i32 {
        let one = |a: i32, b: i32, reach: i32| reach - (a - b).abs();
        let wide = one(self.centre.0, other.centre.0, self.half.0 + other.half.0);
        let high = one(self.centre.1, other.centre.1, self.half.1 + other.half.1);
        wide.min(high).max(0)
    }
}

/// Every label with the pixel of its centre: right of its marker, or wherever around it covers least.
pub(super) fn placed(
    series: &[Series],
    place: impl Fn(&Point) -> Option<(i32, i32)>,
) -> Vec<(&str, (i32, i32))> {
    let labelled = series.iter().filter(|series| !series.labels.is_empty());
    let points: Vec<(&str, (i32, i32))> = labelled
        .flat_map(|series| series.points.iter().zip(&series.labels))
        .filter_map(|(point, label)| Some((label.as_str(), place(point)?)))
        .collect();
    let mut taken: Vec<Area> = points
        .iter()
        .map(|&(_, centre)| Area {
            centre,
            half: (MARKER, MARKER),
        })
        .collect();
    let mut found = Vec::with_capacity(points.len());
    for (label, (column, row)) in points {
        let half = (HALF_CHARACTER * label.chars().count() as i32, HALF_LINE);
        let (side, up) = (MARKER + 2 + half.0, MARKER + half.1);
        let around = [
            (side, 0),
            (-side, 0),
            (0, -up),
            (0, up),
            (side, -up),
            (-side, -up),
            (side, up),
            (-side, up),
            (2 * side, 0),
            (-2 * side, 0),
        ];
        let area = |(right, down): (i32, i32)| Area {
            centre: (column + right, row + down),
            half,
        };
        let covered = |area: Area| -> i32 { taken.iter().map(|other| area.overlap(*other)).sum() };
        let best = around
            .into_iter()
            .map(area)
            .min_by_key(|area| covered(*area));
        if let Some(best) = best {
            taken.push(best);
            found.push((label, best.centre));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::series::Mark;
    use super::*;

    #[test]
    fn labels_of_close_points_stand_apart() {
        let points: Vec<Point> = (0..4)
            .map(|i| Point::new(100.0, 100.0 + 8.0 * f64::from(i)))
            .collect();
        let names = (1..=4).map(|number| number.to_string()).collect();
        let series = [Series::new("", Mark::Markers, points).with_labels(names)];
        let found = placed(&series, |point| Some((point.x as i32, point.y as i32)));
        assert_eq!(found.len(), 4);
        for (i, &(_, a)) in found.iter().enumerate() {
            for &(_, b) in &found[..i] {
                let area = |centre| Area {
                    centre,
                    half: (HALF_CHARACTER, HALF_LINE),
                };
                assert_eq!(area(a).overlap(area(b)), 0, "{found:?}");
            }
        }
        assert_eq!(placed(&series, |_| None), []);
    }
}
