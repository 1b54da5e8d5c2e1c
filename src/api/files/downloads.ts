/** Stored files, for anybody who has a signed link to one. */

import { Type } from 'typebox'

import { Text } from '../json.ts'
import { operation } from '../operation.ts'

const file = {
  access: 'public',
  summary: 'Read the file that a signed link names',
  query: Type.Object({ jwt: Type.Optional(Text(8_192)) }),
  media: 'application/octet-stream',
} as const

export const downloadFile = operation('GET', '/api/v1/download', file)

export const downloadPublicFile = operation('GET', '/api/v1/public/download', file)
