/** What this server counts, as Prometheus reads it. */

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** A number as it stands, told apart from others of its name by labels of few values each. */
export interface Reading {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

export interface MetricWords {
  /** Without `heddle_`; of a count it ends with `_total`, of a duration with `_seconds`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

type Labels = Readonly<Record<string, string>>

/** In seconds: from a turn in memory to a run of minutes. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/**
 * Whoever counts something himself has it read here when somebody looks; only what comes one by
 * one, and has a distribution, is told as it comes.
 */
export class Metrics {
  readonly #registry = new Registry()

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  /** `read` is called at each look. */
  gauge(words: MetricWords, read: () => Iterable<Reading>): void {
    const gauge = new Gauge({
      ...this.#settings(words),
      collect() {
        gauge.reset()
        for (const { labels = {}, value } of read()) gauge.set(labels, value)
      },
    })
  }

  /** The same for what only grows. */
  counter(words: MetricWords, read: () => Iterable<Reading>): void {
    const counter = new Counter({
      ...this.#settings(words),
      collect() {
        counter.reset()
        for (const { labels = {}, value } of read()) counter.inc(labels, value)
      },
    })
  }

  /** Counts one at a time. */
  count(words: MetricWords): (labels?: Labels, by?: number) => void {
    const counter = new Counter(this.#settings(words))
    // What has no labels is there from the start; what has some, when it first happens.
    return (labels = {}, by = 1) => counter.inc(labels, by)
  }

  /** Takes durations, in milliseconds, one at a time. */
  duration(words: MetricWords): (ms: number, labels?: Labels) => void {
    const histogram = new Histogram({ ...this.#settings(words), buckets })
    return (ms, labels = {}) => histogram.observe(labels, ms / 1_000)
  }

  get contentType(): string { return this.#registry.contentType }

  text(): Promise<string> { return this.#registry.metrics() }

  #settings({ name, help, labels = [] }: MetricWords) {
    return { name: `heddle_${name}`, help, labelNames: [...labels], registers: [this.#registry] }
  }
}
