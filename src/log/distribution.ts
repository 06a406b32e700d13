/** How often a figure was at most so large: what Prometheus calls a histogram. */
export type Distribution = {
  /** Upper bounds, in rising order; behind the last there is one more count. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
};

export class Distributed implements Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    const at = this.bounds.findIndex((bound) => value <= bound);
    const place = at < 0 ? this.bounds.length : at;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}
