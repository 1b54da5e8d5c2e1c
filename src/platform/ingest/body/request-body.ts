/** Content of the body of a request, before any of it is read. */

import type { Uuid } from '../../spans/span.ts'

/** Form of a body, which decides how it is read. */
export interface BodyForm {
  readonly form: 'multipart' | 'batch' | 'post' | 'patch' | 'otlp'
  readonly contentType: string
  /** The id in the path of a patch. */
  readonly spanId?: Uuid
  /** The id of a single run that names none. */
  readonly spareId?: Uuid
  /** Name of the project of operations that name none. */
  readonly project?: string
}

/** An operation as it stands in a body. Values are JSON in UTF-8 that nobody has checked. */
export interface RawOperation {
  readonly kind: 'post' | 'patch'
  /** Null: its members say it. */
  readonly id: string | null
  /** An object. */
  readonly main: Buffer
  /** Members that are not in the object; they win over those in it. */
  readonly apart: ReadonlyMap<string, Buffer>
  /**
   * The start under which its trace is filed, if its dotted order does not begin with the root of
   * its trace.
   */
  readonly filedUs?: number
}

/** An attachment as it stands in a body. */
export interface RawFile {
  readonly span: string
  readonly name: string
  readonly type: string
  readonly data: Uint8Array
}

/** Feedback as it stands in a body. */
export interface RawFeedback {
  readonly id: string
  readonly json: Buffer
}

/** Something that failed alone. It names no payload. */
export interface Rejection {
  readonly id: string
  readonly reason: string
}

/** All that a body has. */
export interface RequestBody {
  readonly operations: readonly RawOperation[]
  readonly files: readonly RawFile[]
  readonly feedback: readonly RawFeedback[]
  readonly rejected: readonly Rejection[]
}
