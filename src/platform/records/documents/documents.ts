/** Documents for the main thread: calls to the thread that writes and to the one that reads. */

import { HeddleError } from '../../../errors.ts'
import type { Calls } from '../../calls/calls.ts'
import type { Document, DocumentPlace, DocumentPort,
  DocumentRange } from '../../spans/document-port.ts'

/** Calls of the ingest thread that change documents. */
export interface DocumentWrites {
  putDocuments(
    call: { readonly place: DocumentPlace; readonly documents: readonly Document[] },
  ): Promise<void>
  deleteDocuments(
    call: { readonly place: DocumentPlace; readonly keys: readonly string[] },
  ): Promise<void>
  dropDocuments(place: DocumentPlace): Promise<void>
}

/** Calls of the query thread that read documents. */
export interface DocumentReads {
  getDocuments(
    question: { readonly place: DocumentPlace; readonly keys: readonly string[] },
  ): Promise<readonly Document[]>
  listDocuments(
    question: { readonly place: DocumentPlace; readonly range: DocumentRange },
  ): Promise<readonly Document[]>
}

/** The handlers of the thread that writes. */
export function documentWrites(port: DocumentPort): DocumentWrites {
  return {
    putDocuments: ({ place, documents }) => port.putDocuments(place, documents),
    deleteDocuments: ({ place, keys }) => port.deleteDocuments(place, keys),
    dropDocuments: (place) => port.dropDocuments(place),
  }
}

/** The handlers of the thread that reads. */
export function documentReads(port: DocumentPort): DocumentReads {
  return {
    getDocuments: ({ place, keys }) => port.getDocuments(place, keys),
    listDocuments: ({ place, range }) => port.listDocuments(place, range),
  }
}

/** The port for the main thread. The getters give the threads that run at the time of a call. */
export function documentsOver(
  threads: { readonly ingest: Calls<DocumentWrites>; readonly query: Calls<DocumentReads> },
): DocumentPort {
  return {
    putDocuments: async (place, documents) => {
      for (const { key } of documents) requireKey(key)
      if (documents.length > 0) await threads.ingest.putDocuments({ place, documents })
    },
    getDocuments: async (place, keys) =>
      keys.length === 0 ? [] : await threads.query.getDocuments({ place, keys }),
    listDocuments: (place, range) => threads.query.listDocuments({ place, range }),
    deleteDocuments: async (place, keys) => {
      if (keys.length > 0) await threads.ingest.deleteDocuments({ place, keys })
    },
    dropDocuments: (place) => threads.ingest.dropDocuments(place),
  }
}

function requireKey(key: string): void {
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return
  throw new HeddleError('invalid', 'The key of a document is 1 to 200 characters of ASCII.')
}
