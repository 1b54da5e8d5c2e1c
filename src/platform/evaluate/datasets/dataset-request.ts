/** Datasets in requests and answers. Pure. */

import type { Dataset as DatasetJson, DatasetBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { textOf } from '../../../raw-json.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { Dataset, DatasetChange } from './dataset.ts'
import { requireSchema } from './schema-check.ts'

/** Reads the change of a dataset from a body. Null is as good as absent. Throws `invalid`. */
export function datasetChanged(body: DatasetBody): DatasetChange {
  const { name, description, data_type: type, transformations, extra, metadata,
    baseline_experiment_id: baseline } = body
  const given = isObject(extra) && isObject(extra['metadata']) ? extra['metadata'] : metadata
  return {
    ...typeof name === 'string' && { name: nameIn(name) },
    ...typeof description === 'string' && { description },
    ...typeof type === 'string' && { dataType: dataTypeIn(type) },
    ...schemaIn('inputsSchema', 'inputs_schema_definition', body.inputs_schema_definition),
    ...schemaIn('outputsSchema', 'outputs_schema_definition', body.outputs_schema_definition),
    ...Array.isArray(transformations) && { transformations: textOf(transformations) },
    ...isObject(given) && { metadataJson: textOf(given) },
    ...typeof baseline === 'string' && { baseline },
  }
}

/** The name of a new dataset. Throws `invalid`. */
export function nameIn(name: string | null | undefined): string {
  if (typeof name === 'string' && name.trim() !== '') return name
  throw new HeddleError('invalid', 'name: a dataset needs one.')
}

/** The kind of examples. Throws `invalid`. */
export function dataTypeIn(type: string): Dataset['dataType'] {
  if (type === 'kv' || type === 'llm' || type === 'chat') return type
  throw new HeddleError('invalid', 'data_type: kv, llm or chat.')
}

/** The experiments of a dataset. */
export interface ExperimentsOf {
  readonly count: number
  /** When the newest one began. */
  readonly lastMs: number | null
}

/** The dataset as clients know it. */
export function datasetJson(tenant: string, dataset: Dataset,
  { count, lastMs }: ExperimentsOf): DatasetJson {
  const { id, name, description, dataType, inputsSchema, outputsSchema, transformations } = dataset
  return {
    id,
    tenant_id: tenantId(tenant),
    name,
    description,
    data_type: dataType,
    inputs_schema_definition: parsed(inputsSchema),
    outputs_schema_definition: parsed(outputsSchema),
    transformations: parsed(transformations),
    externally_managed: false,
    created_at: timeText(dataset.createdMs),
    modified_at: timeText(dataset.modifiedMs),
    example_count: dataset.count,
    session_count: count,
    last_session_start_time: lastMs === null ? null : timeText(lastMs),
    baseline_experiment_id: dataset.baseline,
    metadata: JSON.parse(dataset.metadataJson) as DatasetJson['metadata'],
  }
}

function schemaIn(field: 'inputsSchema' | 'outputsSchema', name: string,
  schema: unknown): DatasetChange {
  if (schema === undefined || schema === null) return {}
  requireSchema(name, schema)
  return { [field]: textOf(schema) }
}

function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : JSON.parse(json) as Value
}

function timeText(ms: number): string {
  return zonedTextUs(ms * 1_000)
}
