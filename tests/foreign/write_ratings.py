"""Writes the files of `ratings/` with the libraries that people use: eight ratings of four users and five items.

Run in this folder: pip install pandas polars && python write_ratings.py
"""

from pathlib import Path

import pandas as pd
import polars as pl

OUT = Path(__file__).parent / "ratings"

RATINGS = [(196, 242, 3.0), (186, 302, 3.5), (22, 377, 1.0), (244, 51, 2.0), (166, 242, 1.5), (196, 302, 4.0), (22, 51, 5.0), (244, 110, 2.5)]
RATINGS[4] = (186, 242, 1.5)
times = [881250949 + 17 * place for place in range(len(RATINGS))]
frame = pd.DataFrame(RATINGS, columns=["userId", "movieId", "rating"]).assign(timestamp=times)
named = frame.assign(userId=["anna, b.", "bo", "cy", "dee", "bo", "anna, b.", "cy", "dee"])

frame.to_csv(OUT / "pandas.csv", index=False)
frame.to_csv(OUT / "pandas_index.csv")
frame.to_csv(OUT / "pandas.tsv", index=False, sep="\t")
frame.to_csv(OUT / "pandas.csv.gz", index=False)
frame.to_csv(OUT / "excel.csv", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
frame.to_csv(OUT / "excel_commas.csv", index=False, sep=";", decimal=",")
named.to_csv(OUT / "pandas_names.csv", index=False)
frame[["timestamp", "rating", "movieId", "userId"]].to_csv(OUT / "reordered.csv", index=False)
frame.set_axis(["who", "what", "how", "when"], axis=1).to_csv(OUT / "unknown_names.csv", index=False)
frame[["userId", "movieId"]].to_csv(OUT / "implicit.csv", index=False)
pl.DataFrame(named.to_dict("list")).write_csv(OUT / "polars.csv", quote_style="always")
# As MovieLens' u.data, RecBole's .inter and Book-Crossings lay out their files.
frame.astype({"rating": int}).to_csv(OUT / "u.data", index=False, header=False, sep="\t")
frame.set_axis(["user_id:token", "item_id:token", "rating:float", "timestamp:float"], axis=1).to_csv(OUT / "recbole.inter", index=False, sep="\t")
frame[["userId", "movieId", "rating"]].set_axis(["User-ID", "ISBN", "Book-Rating"], axis=1).to_csv(OUT / "book_crossings.csv", index=False, sep=";", quoting=1)
text = (OUT / "pandas.csv").read_text()
(OUT / "empty_last_line.csv").write_text(text + "\n\n")
(OUT / "cut.csv").write_text(text[:-17])
(OUT / "headings_twice.csv").write_text(text + text)
