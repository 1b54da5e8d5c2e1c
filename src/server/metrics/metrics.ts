/** The metrics of this server, for Prometheus. */

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

/** A current value, with labels that each have few values. */
export interface Reading {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** Name and description of a metric. */
export interface MetricWords<Name extends string = string> {
  /** Name without `heddle_`. A counter's ends with `_total`, a duration's with `_seconds`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly Name[]
}

/** Values of labels by name. Without labels, only an empty object. */
type Labels<Name extends string = string> = Readonly<
  [Name] extends [never] ? Record<string, never> : Record<Name, string>
>

/** Bounds of buckets in seconds: from a turn in memory to a run of a minute. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/**
 * The metrics of one process. Parts that count something themselves are read when metrics are asked
 * for. Only single events and durations are reported as they happen.
 */
export class Metrics {
  readonly #registry = new Registry()

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  /** Adds a gauge. `read` is called whenever metrics are asked for. */
  gauge(words: MetricWords, read: () => Iterable<Reading>): void {
    const gauge = new Gauge({
      ...this.#settings(words),
      collect() {
        gauge.reset()
        for (const { labels = {}, value } of read()) gauge.set(labels, value)
      },
    })
  }

  /** Adds a counter, for values that only grow. `read` is called whenever metrics are asked for. */
  counter(words: MetricWords, read: () => Iterable<Reading>): void {
    const counter = new Counter({
      ...this.#settings(words),
      collect() {
        counter.reset()
        for (const { labels = {}, value } of read()) counter.inc(labels, value)
      },
    })
  }

  /**
   * Adds a counter that is counted up. The registry, which checks all labels, learns of it when it
   * is asked.
   */
  count(words: MetricWords<never>): (labels?: Labels<never>, by?: number) => void
  count<Name extends string>(words: MetricWords<Name>): (labels: Labels<Name>, by?: number) => void
  count(words: MetricWords): (labels?: Labels, by?: number) => void {
    const { labels: names = [] } = words
    const totals = new Map<string, { readonly labels: Labels; value: number }>()
    const totalOf = (labels: Labels) => {
      const key = names.map((name) => labels[name]).join('\n')
      const total = totals.get(key) ?? { labels, value: 0 }
      totals.set(key, total)
      return total
    }
    // A counter without labels exists from the start. One with labels exists when it is first used.
    if (names.length === 0) totalOf({})
    this.counter(words, () => totals.values())
    return (labels = {}, by = 1) => {
      totalOf(labels).value += by
    }
  }

  /** Adds a histogram. The result takes one duration at a time, in milliseconds. */
  duration(words: MetricWords): (ms: number, labels?: Labels) => void {
    const histogram = new Histogram({ ...this.#settings(words), buckets })
    return (ms, labels = {}) => histogram.observe(labels, ms / 1_000)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** Formats them as a list of metrics, each with its name, help, type and values. */
  async json(): Promise<string> {
    return JSON.stringify(await this.#registry.getMetricsAsJSON())
  }

  #settings({ name, help, labels = [] }: MetricWords) {
    return { name: `heddle_${name}`, help, labelNames: [...labels], registers: [this.#registry] }
  }
}
