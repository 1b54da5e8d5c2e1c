/** Projects in answers, where they are sessions. Pure. */

import { isObject } from '../../../json/index.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { Project } from './project.ts'
import { tenantId } from '../../spans/tenant-id.ts'

/** An object of statistics, parsed. */
export type ProjectStats = Readonly<Record<string, unknown>>

/** The session of v1. `stats`: its statistics, if they were asked for. */
export function sessionJson(tenant: string, project: Project,
  stats?: ProjectStats): Record<string, unknown> {
  const { longLived } = project
  return {
    default_dataset_id: null,
    test_run_number: null,
    ...JSON.parse(project.restJson) as object,
    ...stats,
    ...shared(tenant, project),
    last_run_start_time_live: stats?.['last_run_start_time'] ?? null,
    trace_tier: longLived ? 'longlived' : 'shortlived',
  }
}

/** The session of v2. Its costs are numbers. */
export function sessionJsonV2(tenant: string, project: Project,
  stats?: ProjectStats): Record<string, unknown> {
  return {
    ...sessionJson(tenant, project, stats && costsAsNumbers(stats)),
    type: project.referenceDatasetId === null ? 'PROJECT' : 'EXPERIMENT',
    trace_tier: project.longLived ? 'LONG_LIVED' : 'SHORT_LIVED',
  }
}

function shared(tenant: string, project: Project) {
  return {
    id: project.id,
    tenant_id: tenantId(tenant),
    name: project.name,
    start_time: timeText(project.startMs),
    end_time: project.endMs === null ? null : timeText(project.endMs),
    description: project.description,
    extra: JSON.parse(project.extraJson) as unknown,
    reference_dataset_id: project.referenceDatasetId,
  }
}

function timeText(ms: number): string {
  return zonedTextUs(ms * 1_000)
}

/** Costs are texts, or texts by the kind of token. */
function costsAsNumbers(stats: ProjectStats): ProjectStats {
  return Object.fromEntries(Object.entries(stats).map(([name, value]) => {
    if (!name.includes('cost')) return [name, value]
    return [name, isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([kind, cost]) => [kind, Number(cost)]))
      : typeof value === 'string'
      ? Number(value)
      : value]
  }))
}
