/** The messages between a server and the process that reads types: plain data. */

import type { FileTimes } from '../file-times.ts'
import type { TypedNode, TypedSchemas } from './graph-types.ts'

/** Graphs whose types are read, in this order. */
export interface TypesWanted {
  readonly graphs: readonly { readonly graphId: string; readonly file: string;
    readonly exportName: string }[]
}

/** Messages with types, sent as they are read. */
export type TypesRead =
  /** The project's files that the types come from. */
  | { readonly type: 'files'; readonly read: FileTimes }
  | { readonly type: 'graph'; readonly graphId: string; readonly schemas: TypedSchemas }
  | { readonly type: 'nodes'; readonly nodes: readonly TypedNode[] }
