/** Questions about spans, and what answers them. */

import type { LinkKey } from '../records/downloads/download-link.ts'
import type { Project } from '../records/projects/project.ts'
import type { Feedback, FeedbackQuery, FeedbackToken } from '../spans/feedback-port.ts'
import type { SpanPlace, Uuid } from '../spans/span.ts'

/** Bounds and conditions of a question, as both APIs have them. Times are in microseconds. */
export interface RunsQuestion {
  readonly tenant: string
  /** Projects that exist, with their retention. */
  readonly projects: readonly Project[]
  readonly ids?: readonly Uuid[]
  readonly trace?: Uuid
  readonly parent?: Uuid
  readonly type?: string
  readonly fromUs?: number
  readonly toUs?: number
  readonly endFromUs?: number
  readonly endToUs?: number
  readonly failed?: boolean
  /** True to ask for roots only. */
  readonly rootsOnly?: boolean
  /** False to leave roots out. */
  readonly isRoot?: boolean
  readonly examples?: readonly Uuid[]
  readonly text?: string
  readonly filter?: string
  readonly traceFilter?: string
  readonly treeFilter?: string
  readonly order: 'newest' | 'oldest'
  readonly limit: number
  readonly cursor?: string
  /** Members of the answer, as this API spells them; undefined for all. */
  readonly select?: readonly string[]
  readonly version: 1 | 2
  /** True to add the usage of subtrees to spans. The first API always does so. */
  readonly subtreeUsage?: boolean
  /** Key for links to attachments; without it, answers have none. */
  readonly links?: LinkKey
  /** True for a bare list as the answer of the first API. */
  readonly isList?: boolean
  /** Spans that are named by id must be in here. */
  readonly within?: Within
}

/** Bounds on spans that are named by id: a trace, or the traces whose root meets a filter. */
export interface Within {
  readonly trace?: Uuid
  readonly traceFilter?: string
}

/** Reads of spans, statistics and feedback. Answers are JSON in UTF-8. */
export interface SpanReads {
  /** A page: `{"runs":[…],"cursors":{…}}` or `{"items":[…],"next_cursor":…}`. */
  runs(question: RunsQuestion): Promise<Uint8Array>
  /** One span. `not_found` if none of the projects has it, or it is not `within`. */
  run(
    question: { readonly tenant: string; readonly id: Uuid; readonly version: 1 | 2;
      readonly projects: readonly Project[]; readonly select?: readonly string[];
      readonly startUs?: number; readonly links?: LinkKey; readonly within?: Within;
      /** URL of a share, as a member of the answer; missing to leave it out. */
      readonly shareUrl?: string | null },
  ): Promise<Uint8Array>
  /**
   * These runs in this order, each with members of its own, in a list. Removed runs are missing.
   */
  listedRuns(question: ListedRuns): Promise<Uint8Array>
  /** Ids of the runs that `runs` would answer, up to the limit. */
  spanIds(question: RunsQuestion): Promise<readonly Uuid[]>
  /** An attachment of a span with its data; undefined if there is none. */
  spanFile(
    question: { readonly tenant: string; readonly project: Uuid; readonly span: Uuid;
      readonly name: string },
  ): Promise<{ readonly type: string; readonly data: Uint8Array } | undefined>
  /**
   * All places of spans: a place in each project that has a span of such an id. With `stored`, no
   * thread is asked for its runs, because the thread that waits for the result may be among them.
   */
  locate(
    question: { readonly tenant: string; readonly ids: readonly Uuid[]; readonly stored?: boolean },
  ): Promise<readonly SpanPlace[]>
  /** Null if the filter can be read; otherwise its fault. */
  validate(question: { readonly filter: string }): Promise<string | null>
  /** Root spans with their aggregates, of v2: `{"items":[…],"next_cursor":…}`. */
  traces(question: RunsQuestion): Promise<Uint8Array>
  /** All spans of a trace, of v2: `{"items":[…]}`. */
  trace(question: RunsQuestion): Promise<Uint8Array>
  /** Spans in lines of JSON that can be sent in again. */
  exported(question: ExportQuestion): Promise<ExportedLines>
  /** `{"columns":[…],"rows":[[…]],"row_count":…,…}`. Throws as `SqlPort` does, `unsupported`. */
  sql(call: SqlCall): Promise<Uint8Array>
  /** Statistics: one object, or one per group. */
  stats(question: RunsQuestion & { readonly groupBy?: GroupBy }): Promise<Uint8Array>
  /** Statistics of each project, in a list. Null for those with too many runs. */
  projectStats(
    question: { readonly tenant: string; readonly projects: readonly Project[] },
  ): Promise<Uint8Array>
  /** Values of each bucket of time, for a chart: `{"data":[…]}`. */
  series(question: SeriesQuestion): Promise<Uint8Array>
  /** Conversations: newest roots by their thread. */
  groups(
    question: RunsQuestion & { readonly offset: number;
      readonly form: 'group' | 'threads' | 'groupStats' | 'threadStats' },
  ): Promise<Uint8Array>
  getFeedback(
    question: { readonly tenant: string; readonly id: Uuid },
  ): Promise<Feedback | undefined>
  listFeedback(question: FeedbackQuery): Promise<readonly Feedback[]>
  getFeedbackToken(
    question: { readonly hash: string; readonly nowMs: number },
  ): Promise<FeedbackToken | undefined>
  listFeedbackTokens(
    question: { readonly tenant: string; readonly span: Uuid },
  ): Promise<readonly FeedbackToken[]>
}

/** Spans that are given out, in the lines of one form. */
export type ExportQuestion = RunsQuestion & { readonly form: 'jsonl' | 'otlp' }

/** Some lines, and the cursor for the next ones; null after the last. */
export interface ExportedLines {
  readonly lines: Uint8Array
  readonly cursor: string | null
}

/** A question in SQL about the spans of these projects. */
export interface SqlCall {
  readonly tenant: string
  readonly projects: readonly Project[]
  readonly query: string
}

/** Choice of runs in a given order, of the first API. */
export interface ListedRuns {
  readonly tenant: string
  readonly projects: readonly Project[]
  readonly runs: readonly {
    readonly id: Uuid
    /** JSON of an object. */
    readonly moreJson: string
  }[]
  readonly links?: LinkKey
}

/** Division of statistics into groups. */
export interface GroupBy {
  readonly attribute: 'name' | 'run_type' | 'tag' | 'metadata'
  /** The key of the metadata. */
  readonly path?: string
  readonly maxGroups: number
}

/** A chart: series over the same buckets of time. */
export interface SeriesQuestion {
  readonly tenant: string
  readonly fromUs: number
  readonly toUs: number
  readonly strideUs: number
  readonly series: readonly { readonly id: string; readonly metric: string;
    readonly question: RunsQuestion; readonly feedbackKey?: string; readonly groupBy?: GroupBy }[]
}
