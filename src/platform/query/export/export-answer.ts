/**
 * Exports spans in lines of JSON that can be imported again: one run a line, as `POST /runs/batch`
 * takes it, or one request of OpenTelemetry a line.
 */

import type { SpanHead } from '../../spans/span.ts'
import { writeCursor } from '../cursor.ts'
import type { Content } from '../payload/content.ts'
import { shownBy } from '../matching.ts'
import type { ScanParts } from '../matching.ts'
import { wholeTrace } from '../named-spans.ts'
import { findPage } from '../page.ts'
import { JsonWriter } from '../runs/json-writer.ts'
import { runV1Fields } from '../runs/run-v1.ts'
import type { ExportedLines, ExportQuestion } from '../question.ts'
import { otlpRequest } from './otlp-request.ts'

/** Bytes after which an answer ends. The next lines need another question. */
const linesBytes = 4 * 1024 * 1024

/** Members of an exported run that are needed to import it. The others are computed again. */
const members = ['id', 'name', 'run_type', 'start_time', 'end_time', 'error', 'extra', 'events',
  'inputs', 'outputs', 'serialized', 'tags', 'parent_run_id', 'trace_id', 'dotted_order',
  'reference_example_id'] as const

/** The lines behind the cursor of a question. */
export async function exportedLines(parts: ScanParts, question: ExportQuestion,
  signal?: AbortSignal): Promise<ExportedLines> {
  const names = new Map(question.projects.map(({ id, name }) => [id, name]))
  const isTrace = question.trace !== undefined && question.cursor === undefined
  const { heads, next } = isTrace
    ? { heads: await wholeTrace(parts, question, signal), next: undefined }
    : await findPage(parts, question, signal)
  const json = new JsonWriter()
  let bytes = 0
  for await (const [head, content] of shownBy(parts).of(heads)) {
    signal?.throwIfAborted()
    const line = lineOf(question.form, head, content, names.get(head.project) ?? 'default')
    for (const part of [...line, '\n']) {
      json.add(part)
      bytes += part.length
    }
    if (bytes > linesBytes && !isTrace && head !== heads.at(-1)) {
      return { lines: json.done(), cursor: writeCursor(head, question) }
    }
  }
  return { lines: json.done(), cursor: next === undefined ? null : writeCursor(next, question) }
}

function lineOf(form: ExportQuestion['form'], head: SpanHead, content: Content,
  project: string): readonly (string | Uint8Array)[] {
  if (form === 'otlp') return [JSON.stringify(otlpRequest(head, content, project))]
  return [`{"session_name":${JSON.stringify(project)}`,
    ...members.flatMap((name) => [`,"${name}":`, runV1Fields[name]!.of(head, content, [])]), '}']
}
