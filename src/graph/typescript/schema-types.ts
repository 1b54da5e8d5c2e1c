/** Completes the schemas of graphs by the types in the project's sources. */

import type { Env } from '../../../cluster/index.ts'
import type { GraphSchemas } from '../execution.ts'
import { TypeReader } from './project-types.ts'
import type { ReaderBounds, TypedProject } from './project-types.ts'
import { lacksTypes, nodeTypes, withTypes } from './typed-schemas.ts'

/** Schemas of several graphs, by name. */
type NamedSchemas = Readonly<Record<string, GraphSchemas>>

/** Reads types only where a schema lacks one. Belongs to a graph host. */
export class SchemaTypes {
  readonly #reader: TypeReader

  /** `heapMb` is what the compiler may fill. */
  constructor(env: Env, heapMb: number, bounds?: ReaderBounds) {
    this.#reader = new TypeReader(env, heapMb, bounds)
  }

  /** The schemas of a graph. */
  async ofGraph(project: TypedProject, graphId: string,
    schemas: GraphSchemas): Promise<GraphSchemas> {
    if (!lacksTypes(schemas)) return schemas
    const { graphs } = await this.#reader.typesOf(project)
    return withTypes(schemas, graphs.get(graphId))
  }

  /** The schemas of subgraphs, by namespace. */
  async ofSubgraphs(project: TypedProject, found: NamedSchemas): Promise<NamedSchemas> {
    if (!Object.values(found).some(lacksTypes)) return found
    const { nodes } = await this.#reader.typesOf(project)
    return Object.fromEntries(
      Object.entries(found).map((
        [name, schemas],
      ) => [name, withTypes(schemas, nodeTypes(nodes, name, schemas))]),
    )
  }

  /** Ends what is being read. */
  close(): void {
    this.#reader.close()
  }
}
