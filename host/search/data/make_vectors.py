"""Makes `word_vectors.bin` of GloVe's vectors (see README.md beside this).

    pip install numpy snowballstemmer
    python make_vectors.py glove.6B.100d.txt word_vectors.bin
"""

import re
import sys

import numpy
import snowballstemmer

WORDS = 20_000  # the most frequent ones, which come first
COMMON = 3  # directions that say how frequent a word is, and not what it means
DIMENSIONS = 64
STEM_BYTES = 16
NORM = 180  # of a vector, in steps of the bytes that it is kept in


def read(path):
    words, vectors = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word, *numbers = line.split(" ")
            if re.fullmatch("[a-z]{2,}", word):
                words.append(word)
                vectors.append([float(number) for number in numbers])
            if len(words) == WORDS:
                break
    return words, numpy.array(vectors)


def main():
    words, vectors = read(sys.argv[1])
    vectors -= vectors.mean(axis=0)
    _, _, directions = numpy.linalg.svd(vectors, full_matrices=False)
    vectors = vectors @ directions.T[:, COMMON : COMMON + DIMENSIONS]
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    stem = snowballstemmer.stemmer("english").stemWord
    sums = {}
    for place, (word, vector) in enumerate(zip(words, vectors)):
        stemmed = (word if len(word) <= 2 else stem(word)).encode()
        if len(stemmed) <= STEM_BYTES:
            # A word's frequency goes down about as its place goes up.
            sums[stemmed] = sums.get(stemmed, 0) + vector / (place + 50)
    with open(sys.argv[2], "wb") as file:
        for stemmed, vector in sorted(sums.items()):
            scaled = numpy.round(vector / numpy.linalg.norm(vector) * NORM)
            file.write(stemmed.ljust(STEM_BYTES, b"\0"))
            file.write(scaled.clip(-127, 127).astype(numpy.int8).tobytes())


main()
