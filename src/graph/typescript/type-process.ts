/** The entry of the process that reads types. It ends when it has sent all of them. */

import { programOf } from './compiler.ts'
import { GraphTypes } from './graph-types.ts'
import type { TypesRead, TypesWanted } from './type-mail.ts'

const send = (message: TypesRead) => void process.send!(message)

process.once('message', ({ graphs }: TypesWanted) => {
  const { program, read, isOwn } = programOf([...new Set(graphs.map(({ file }) => file))])
  send({ type: 'files', read })
  const types = new GraphTypes(program)
  for (const { graphId, file, exportName } of graphs) {
    try {
      const schemas = types.exported(file, exportName)
      if (schemas !== undefined) send({ type: 'graph', graphId, schemas })
    } catch {
      // The checker fails on a type. Other graphs may be readable.
    }
  }
  send({ type: 'nodes', nodes: types.nodes(isOwn) })
  process.disconnect()
})
