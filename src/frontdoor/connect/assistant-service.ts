/** AssistantService: the typed API of assistants over the same operations as REST. */

import type { ServiceImpl } from '@connectrpc/connect'

import type { AssistantService } from '../../../proto/gen/frontdoor/v1/assistant_pb.js'
import { countAssistants, createAssistant, listAssistantVersions, searchAssistants,
  setLatestAssistantVersion, updateAssistant } from '../../api/index.ts'
import type { RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, goneSignal, tenantOf } from './caller-value.ts'
import { bytesOf, jsonIn } from './json-bytes.ts'
import { assistantMessage, pageOf } from './messages.ts'

/** The calls of `AssistantService`, over the operations. */
export function assistantService(
  { assistants, reads }: Pick<RouteParts, 'assistants' | 'reads'>,
): ServiceImpl<typeof AssistantService> {
  return {
    createAssistant: async (request, context) => {
      const body = checkerOf(createAssistant.body)({
        ...contentOf(request),
        assistant_id: request.assistantId,
        if_exists: request.keepExisting ? 'do_nothing' : 'raise',
      })
      return { assistant: assistantMessage(await assistants.create(callerOf(context), body)) }
    },
    getAssistant: async ({ assistantId }, context) => ({
      assistant: assistantMessage(await assistants.get(callerOf(context), assistantId)),
    }),
    updateAssistant: async (request, context) => {
      const body = checkerOf(updateAssistant.body)(contentOf(request))
      const row = await assistants.patch(callerOf(context), request.assistantId, body)
      return { assistant: assistantMessage(row) }
    },
    deleteAssistant: async ({ assistantId, deleteThreads }, context) => {
      await assistants.delete(callerOf(context), assistantId, deleteThreads)
      return {}
    },
    searchAssistants: async (request, context) => {
      const { sortBy: sort_by, sortOrder: sort_order, page } = request
      const body = checkerOf(searchAssistants.body)(
        { ...filterOf(request), ...pageOf(page), sort_by, sort_order },
      )
      const { rows, total } = await assistants.search(callerOf(context), body, goneSignal(context))
      using share = reads.share(tenantOf(context))
      takeRows(share, rows)
      return { assistants: rows.map(assistantMessage), total: BigInt(total) }
    },
    countAssistants: async (request, context) => {
      const body = checkerOf(countAssistants.body)(filterOf(request))
      const count = await assistants.count(callerOf(context), body, goneSignal(context))
      return { count: BigInt(count) }
    },
    listAssistantVersions: async ({ assistantId, page, metadataJson }, context) => {
      const metadata = jsonIn('metadata_json', metadataJson)
      const body = checkerOf(listAssistantVersions.body)({ ...pageOf(page), metadata })
      const rows = await assistants.versions(callerOf(context), assistantId, body,
        goneSignal(context))
      using share = reads.share(tenantOf(context))
      takeRows(share, rows)
      return { versions: rows.map(assistantMessage) }
    },
    setLatestAssistantVersion: async ({ assistantId, version }, context) => {
      checkerOf(setLatestAssistantVersion.body)({ version })
      const row = await assistants.setLatest(callerOf(context), assistantId, version)
      return { assistant: assistantMessage(row) }
    },
    getAssistantGraph: async ({ assistantId, xray }, context) => {
      const drawn = await assistants.graph(callerOf(context), assistantId, xray)
      return { graphJson: bytesOf(JSON.stringify(drawn)) }
    },
    getAssistantSchemas: async ({ assistantId }, context) => {
      const schemas = await assistants.schemas(callerOf(context), assistantId)
      return { schemasJson: bytesOf(JSON.stringify(schemas)) }
    },
    getAssistantSubgraphs: async ({ assistantId, namespace = null, recurse }, context) => {
      const found = await assistants.subgraphs(callerOf(context), assistantId, namespace, recurse)
      return { subgraphsJson: bytesOf(JSON.stringify(found)) }
    },
  }
}

interface Content {
  readonly graphId?: string
  readonly name?: string
  readonly description?: string
  readonly configJson?: Uint8Array
  readonly contextJson?: Uint8Array
  readonly metadataJson?: Uint8Array
}

function contentOf(content: Content): Record<string, unknown> {
  return {
    graph_id: content.graphId,
    name: content.name,
    description: content.description,
    config: jsonIn('config_json', content.configJson),
    context: jsonIn('context_json', content.contextJson),
    metadata: jsonIn('metadata_json', content.metadataJson),
  }
}

function filterOf({ graphId, name, metadataJson }: Content): Record<string, unknown> {
  return { graph_id: graphId, name, metadata: jsonIn('metadata_json', metadataJson) }
}
