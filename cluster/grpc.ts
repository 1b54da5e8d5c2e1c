/** All that needs the library of gRPC: loaded where there are other members, and nowhere else. */

export { grpcProbe } from './grpc-probe.ts'
export { openGrpcServer } from './grpc-server.ts'
export { grpcTransport } from './transport-grpc.ts'
