/** What the views of a dataset have in common. */

import type { Dataset } from '../../api/index.ts'
import type { DatasetSearch } from '../addresses/datasets.ts'

/** Changes a part of the address. */
export type SetSearch = (change: Partial<DatasetSearch>) => void

/** What the views of a dataset are given. */
export interface DatasetViewProps {
  readonly dataset: Dataset
  readonly search: DatasetSearch
  readonly set: SetSearch
}
