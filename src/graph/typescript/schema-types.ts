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

  /** Starts to read the types of a project that was loaded. */
  begin(project: TypedProject): void {
    this.#reader.begin(project)
  }

  /** Returns the schemas of a graph, after waiting for its types for up to `waitMs`. */
  async ofGraph(project: TypedProject,
    { graphId, schemas, waitMs }: { readonly graphId: string; readonly schemas: GraphSchemas;
      readonly waitMs?: number | undefined }): Promise<GraphSchemas> {
    if (!lacksTypes(schemas)) return schemas
    const { graphs, isLoading } = await this.#reader.typesOf(project, waitMs)
    const types = graphs.get(graphId)
    return { ...withTypes(schemas, types),
      ...isLoading && types === undefined && { types_loading: true } }
  }

  /** The schemas of subgraphs, by namespace. */
  async ofSubgraphs(project: TypedProject, found: NamedSchemas): Promise<NamedSchemas> {
    if (!Object.values(found).some(lacksTypes)) return found
    const { nodes, isLoading } = await this.#reader.typesOf(project)
    return Object.fromEntries(
      Object.entries(found).map((
        [name, schemas],
      ) => [name, { ...withTypes(schemas, nodeTypes(nodes, name, schemas)),
        ...isLoading && { types_loading: true } }]
      ),
    )
  }

  /** Ends what is being read. */
  close(): void {
    this.#reader.close()
  }
}
