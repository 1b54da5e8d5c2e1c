/** Calls of the main thread to the two threads of the platform: one that writes, one that reads. */

import type { ExampleWrites } from '../evaluate/datasets/example-calls.ts'
import type { ExampleReads } from '../evaluate/datasets/example-reader.ts'
import type { DatasetWrites } from '../evaluate/datasets/example-writer.ts'
import type { ExperimentReads } from '../evaluate/datasets/experiments/experiment-runs.ts'
import type { ExperimentWrites } from '../evaluate/datasets/experiments/experiment-upload.ts'
import type { PromptReads } from '../evaluate/prompts/prompt-handlers.ts'
import type { RuleReads } from '../evaluate/rules/rule-query.ts'
import type { SpanWriteNeeds, SpanWrites } from '../ingest/ingest-call.ts'
import type { DeletionReads } from '../query/deletions/deletable-traces.ts'
import type { QueryNeeds } from '../query/own/own-run-calls.ts'
import type { SpanReads } from '../query/question.ts'
import type { RecordingReads } from '../query/recorded-blocks.ts'
import type { DocumentReads, DocumentWrites } from '../records/documents/documents.ts'
import type { QueueReads } from '../records/queues/queue-reads.ts'

/** Calls of the ingest thread, which is the only one that writes. */
export interface IngestHandlers
  extends SpanWrites, DocumentWrites, ExampleWrites, ExperimentWrites {
  /** Finishes all writes in progress, and closes the store. */
  close(call: null): Promise<void>
}

/** Calls of the ingest thread to the main thread. */
export interface IngestNeeds extends SpanWriteNeeds, DatasetWrites {}

/** Calls of the query thread to the main thread. */
export interface QueryThreadNeeds extends QueryNeeds, Pick<SpanWriteNeeds, 'prices'> {}

/** Calls of the query thread, which only reads. */
export interface QueryHandlers
  extends SpanReads, DocumentReads, PromptReads, ExampleReads, QueueReads, ExperimentReads,
    RuleReads, DeletionReads, RecordingReads {
  close(question: null): Promise<void>
}
