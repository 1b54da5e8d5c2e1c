/** Links with which anybody reads a dataset. */

import { Type } from 'typebox'

import { Nullable, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'

const Share = Type.Object({ dataset_id: Uuid(), share_token: Text() }, { $id: 'DatasetShare',
  description: 'The token of the link to a dataset.' })

export const shareDataset = operation('PUT', '/api/v1/datasets/:id/share', {
  access: 'change',
  summary: 'Let anybody read a dataset who has its link',
  answer: Share,
})

export const getDatasetShare = operation('GET', '/api/v1/datasets/:id/share', {
  access: 'read',
  summary: 'Get the token of a dataset; null if it is not shared',
  answer: Nullable(Share),
})

export const unshareDataset = operation('DELETE', '/api/v1/datasets/:id/share', {
  access: 'change',
  summary: 'Take the link to a dataset back',
  answer: Type.Object({ message: Text() }),
})
