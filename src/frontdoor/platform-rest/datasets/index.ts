/** Routes of datasets and their examples. */

export { comparisonRoutes, sendComparisons } from './comparisons.ts'
export { datasetFileRoutes } from './dataset-files.ts'
export { datasetVersionRoutes } from './dataset-versions.ts'
export { datasetRoutes, datasetRoutesV2, jsonOf } from './datasets.ts'
export { exampleBodyRoutes } from './example-bodies.ts'
export { exampleRoutes, sendExamples, optionsOf } from './examples.ts'
export { groupedExperimentRoutes } from './grouped-experiments.ts'
export { datasetRunRoutes, datasetRunRoutesV2, sharedRunPage } from './experiments.ts'
