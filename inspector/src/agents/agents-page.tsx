export default function AgentsPage() {
  return <main className="page" />;
}
